// Stores a user and an event in one transaction of TypeORM.
import "reflect-metadata";
import { DataSource, EntitySchema } from "typeorm";
import { connectionString, offboarded, outbox } from "./outbox.mjs";

const User = new EntitySchema({
  name: "users",
  columns: { id: { type: "text", primary: true }, active: { type: "boolean" } },
});
const database = await new DataSource({
  type: "postgres",
  url: connectionString,
  entities: [User],
}).initialize();

export const offboard = (userId) =>
  database.transaction(async (manager) => {
    await outbox.enqueue(offboarded(userId), { tx: (text, values) => manager.query(text, values) });
    await manager.insert(User, { id: userId, active: false });
  });

export const close = () => database.destroy();
