// Stores a user and an event in one transaction of MikroORM.
import { EntitySchema, MikroORM } from "@mikro-orm/postgresql";
import { connectionString, offboarded, outbox } from "./outbox.mjs";

const User = new EntitySchema({
  name: "User",
  tableName: "users",
  properties: { id: { type: "text", primary: true }, active: { type: "boolean" } },
});
const orm = await MikroORM.init({ clientUrl: connectionString, entities: [User] });

export const offboard = (userId) =>
  orm.em.fork().transactional(async (em) => {
    await outbox.enqueue(offboarded(userId), {
      tx: (text, values) => em.execute(text.replace(/\$\d+/g, "?"), values), // MikroORM wants question marks
    });
    em.create(User, { id: userId, active: false });
  });

export const close = () => orm.close();
