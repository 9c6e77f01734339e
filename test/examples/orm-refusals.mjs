// Hands each database itself to enqueue in place of a transaction, and fails a statement by a collision: prints what is thrown.
import { createRequire } from "node:module";

const here = new URL("../../examples/orm/", import.meta.url);
const load = createRequire(new URL("package.json", here));
const { connectionString, offboarded, outbox, pool } = await import(new URL("outbox.mjs", here).href);
const { CompiledQuery, Kysely, PostgresDialect } = load("kysely");
const { sql } = load("drizzle-orm");
const { PrismaPg } = load("@prisma/adapter-pg");
const { EntitySchema, MikroORM } = load("@mikro-orm/postgresql");

const { PrismaClient } = load("./prisma/client");
const prisma = new PrismaClient({ adapter: new PrismaPg(pool) });
const { DataSource } = load("typeorm");
const source = await new DataSource({ type: "postgres", url: connectionString }).initialize();
const knex = load("knex")({ client: "pg", connection: connectionString });
const sequelize = new (load("sequelize").Sequelize)(connectionString, { logging: false });
const user = new EntitySchema({ name: "User", properties: { id: { type: "text", primary: true } } });
const orm = await MikroORM.init({ clientUrl: connectionString, entities: [user] });
const kysely = new Kysely({ dialect: new PostgresDialect({ pool }) });
const drizzle = load("drizzle-orm/node-postgres").drizzle(pool);
const postgres = load("postgres")(connectionString);

const marks = (text) => text.replace(/\$\d+/g, "?");
const filled = (text, values) =>
  sql.join(text.split(/\$\d+/).flatMap((part, n) => [...(n ? [sql`${values[n - 1]}`] : []), sql.raw(part)]));
const outside = {
  prisma: (text, values) => prisma.$queryRawUnsafe(text, ...values),
  typeorm: (text, values) => source.query(text, values),
  "typeorm's source": source,
  knex: (text, values) => knex.raw(marks(text), values),
  sequelize: (text, bind) => sequelize.query(text, { bind, type: "SELECT" }),
  "mikro-orm": (text, values) => orm.em.fork().execute(marks(text), values),
  kysely: (text, values) => kysely.executeQuery(CompiledQuery.raw(text, values)),
  drizzle: (text, values) => drizzle.execute(filled(text, values)),
  "postgres.js": (text, values) => postgres.unsafe(text, values),
};
await pool.query(
  "CREATE FUNCTION collide() RETURNS int LANGUAGE plpgsql AS $$ BEGIN RAISE 'no' USING ERRCODE = '40001'; END $$",
);
const thrown = (tx) =>
  outbox.enqueue(offboarded("u_1"), { tx }).then(
    () => ({ name: "stored" }),
    (error) => error,
  );
for (const [name, tx] of Object.entries(outside)) {
  const refused = await thrown(tx);
  const query = typeof tx === "function" ? tx : (text, values) => tx.query(text, values);
  const collided = await thrown(() => query("SELECT collide()", []));
  const { rows } = await pool.query("SELECT count(*)::int AS stored FROM hookproof.event");
  console.log(
    JSON.stringify({
      name,
      refused: refused.constructor === Error ? "Error" : refused.name,
      said: refused.message,
      collided: collided.code === "OUTBOX_UNAVAILABLE" ? collided.code : "its own",
      stored: rows[0].stored,
    }),
  );
}
process.exit();
