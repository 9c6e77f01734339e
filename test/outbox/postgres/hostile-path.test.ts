import { randomUUID } from "node:crypto";
import { postgresReplayStore } from "hookproof/replay";
import { outboxStoreContract, replayStoreContract } from "hookproof/testing";
import type pg from "pg";
import { afterAll, beforeAll, expect, it } from "vitest";
import { describeWith } from "../../kit/needs.js";
import { testPool, testPostgres } from "../../kit/postgres.js";
import { testOutbox } from "../../kit/postgres-outbox.js";

const postgres = await testPostgres();
afterAll(() => postgres?.stop());

/** Types of which statements have values, and operators and functions of one or two of them. */
const TYPES = "int4 int8 float8 numeric text varchar json bytea uuid bool timestamptz interval text[]".split(
  " ",
);
const OPERATORS = ["+", "-", "*", "/", "<", ">", "<=", ">=", "=", "<>", "||", "#>>"];
const FUNCTIONS =
  "round date_part to_timestamp json_to_recordset json_to_record json_array_elements_text json_build_object json_build_array json_agg array_to_json to_json unnest string_to_array decode encode sha256 convert_to translate rtrim length octet_length hashtext hashtextextended pg_advisory_xact_lock to_regclass pg_notify pg_relation_size current_setting sum min max left right generate_series array_agg".split(
    " ",
  );

/**
 * What a role that may create in the schema `public` can put there (CVE-2018-1058): each operator and function that takes
 * types for which PostgreSQL's own has only others, which it would first make of them.
 */
function planted(): string {
  const pairs = TYPES.flatMap((one) => TYPES.map((other) => [one, other] as const));
  const body =
    "LANGUAGE plpgsql AS $f$ BEGIN PERFORM pg_catalog.nextval('public.called'); RETURN NULL; END $f$";
  const result = (operator: string) =>
    /^[<>=]/.test(operator) ? "bool" : operator === "||" ? "text" : "float8";
  const operators = OPERATORS.flatMap((operator, place) =>
    pairs.map(([one, other], pair) => [
      `CREATE FUNCTION public.f_${place}_${pair}(a ${one}, b ${other}) RETURNS ${result(operator)} ${body}`,
      `CREATE OPERATOR public.${operator} (LEFTARG = ${one}, RIGHTARG = ${other}, FUNCTION = public.f_${place}_${pair})`,
    ]),
  );
  const functions = FUNCTIONS.flatMap((name) => [
    ...TYPES.map((type) => [`CREATE FUNCTION public.${name}(a ${type}) RETURNS text ${body}`]),
    ...pairs.map(([one, other]) => [
      `CREATE FUNCTION public.${name}(a ${one}, b ${other}) RETURNS text ${body}`,
    ]),
  ]);
  const made = [...operators, ...functions].map(
    (statements) =>
      // What PostgreSQL does not take is none.
      `BEGIN ${statements.map((text) => `EXECUTE $s$${text}$s$;`).join(" ")} EXCEPTION WHEN OTHERS THEN NULL; END;`,
  );
  return `CREATE SEQUENCE public.called; GRANT ALL ON SEQUENCE public.called TO PUBLIC; DO $do$ BEGIN ${made.join("\n")} END $do$`;
}

describeWith("postgresql", postgres)(
  "a database in which another role may create functions and operators",
  () => {
    const name = `hostile_${randomUUID().replaceAll("-", "")}`;
    const url = Object.assign(new URL(postgres?.url ?? "postgres://x"), { pathname: name }).href;
    let pool: pg.Pool;
    let admin: pg.Pool;
    beforeAll(async () => {
      admin = testPool({ connectionString: postgres?.url ?? "", max: 1 });
      await admin.query(`CREATE DATABASE ${name}`);
      pool = testPool({ connectionString: url, max: 5 });
      await pool.query(planted());
    });
    afterAll(async () => {
      await pool.end();
      await admin.query(`DROP DATABASE ${name} WITH (FORCE)`).catch(() => {});
      await admin.end();
    });

    /** How often something of that role's was called. */
    async function calls(): Promise<number> {
      const { rows } = await pool.query("SELECT last_value, is_called FROM public.called");
      return rows[0].is_called ? Number(rows[0].last_value) : 0;
    }

    it("has some that are called where types differ", async () => {
      for (const text of [
        "SELECT 1.5::float8 * 2",
        "SELECT round(2::int4)",
        "SELECT unnest('{a}'::text[])",
      ]) {
        const before = await calls();
        await pool.query(text);
        expect(await calls(), text).toBeGreaterThan(before);
      }
    });

    for (const { name, run } of outboxStoreContract)
      it(`an outbox calls none of them: ${name}`, async () => {
        const outbox = testOutbox(url, { options: "-c search_path=pg_catalog" });
        const before = await calls();
        try {
          await run({
            ...outbox.subject,
            open: () => outbox.store({ pool }) as never,
            async transaction(end, work) {
              const client = await pool.connect();
              try {
                await client.query("BEGIN");
                await work(client);
                await client.query(end);
              } finally {
                client.release();
              }
            },
          });
        } finally {
          await outbox.drop();
        }
        expect(await calls()).toBe(before);
      });

    for (const [place, { name, run }] of replayStoreContract.entries())
      it(`a replay store calls none of them: ${name}`, async () => {
        const table = `ids_${place}`;
        const before = await calls();
        await run({
          open: () => postgresReplayStore({ pool, table, timeoutMs: 10_000 }),
          async passTime(ms) {
            const earlier = "expires_at - $1::float8 * interval '1 ms'";
            await pool.query(`UPDATE ${table} SET expires_at = ${earlier}`, [ms]);
          },
        });
        expect(await calls()).toBe(before);
      });
  },
);
