// Stores a user and an event in one transaction of TypeORM on SQLite.
import "reflect-metadata";
import { DataSource, EntitySchema } from "typeorm";
import { connection, offboarded, outbox } from "./sqlite-outbox.mjs";

const User = new EntitySchema({
  name: "users",
  columns: { id: { type: "text", primary: true }, active: { type: "boolean" } },
});
/** TypeORM makes its connection by itself: this gives it the one that there is. */
function driver() {
  return connection;
}
const database = await new DataSource({
  type: "better-sqlite3",
  database: "app.db",
  entities: [User],
  driver,
}).initialize();

export const offboard = (userId) =>
  database.transaction(async (manager) => {
    await outbox.enqueue(offboarded(userId), { tx: connection });
    await manager.insert(User, { id: userId, active: false });
  });

export const close = () => database.destroy();
