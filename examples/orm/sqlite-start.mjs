// Runs one of these programs: `node sqlite-start.mjs sqlite-kysely u_7 u_8` stores users and events, and delivers them.
import { connection, outbox } from "./sqlite-outbox.mjs";

const [layer = "", ...users] = process.argv.slice(2);
connection.exec("CREATE TABLE IF NOT EXISTS users (id TEXT PRIMARY KEY, active INTEGER NOT NULL)");
const { offboard, close } = await import(`./${layer}.mjs`);

outbox.start();
for (const userId of users)
  await offboard(userId).then(
    () => console.log("offboarded", userId),
    (error) => console.log("rolled back", userId, error.code ?? error.name),
  );
process.once("SIGTERM", async () => {
  await outbox.stop();
  await close();
});
