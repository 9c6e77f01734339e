// Runs one of these programs: `node start.mjs prisma u_7 u_8` stores users and events by Prisma, and delivers them.
import { outbox, pool } from "./outbox.mjs";

const [layer = "", ...users] = process.argv.slice(2);
const { offboard, close } = await import(`./${layer}.mjs`);
await pool.query("CREATE TABLE IF NOT EXISTS users (id text PRIMARY KEY, active boolean NOT NULL)");

outbox.start();
for (const userId of users)
  await offboard(userId).then(
    () => console.log("offboarded", userId),
    (error) => console.log("rolled back", userId, error.code ?? error.name),
  );
process.once("SIGTERM", async () => {
  await outbox.stop();
  await close();
  await pool.end();
});
