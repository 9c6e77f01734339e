// Stores a user and an event in one transaction of Prisma, over the pool that the outbox has.
import { PrismaPg } from "@prisma/adapter-pg";
import { offboarded, outbox, pool } from "./outbox.mjs";
import prismaClient from "./prisma/client/index.js";

const prisma = new prismaClient.PrismaClient({ adapter: new PrismaPg(pool) });

export const offboard = (userId) =>
  prisma.$transaction(async (tx) => {
    await outbox.enqueue(offboarded(userId), {
      tx: (text, values) => tx.$queryRawUnsafe(text, ...values),
    });
    await tx.user.create({ data: { id: userId, active: false } });
  });

export const close = () => prisma.$disconnect();
