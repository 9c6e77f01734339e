import { randomUUID } from "node:crypto";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { transform } from "esbuild";
import { expect, onTestFinished } from "vitest";
import { EXAMPLES, runExample } from "../../kit/example-process.js";
import { fencedBlocks, ROOT } from "../../kit/markdown.js";
import { itWith } from "../../kit/needs.js";
import { debianBinaries, ownPostgres, testPool } from "../../kit/postgres.js";
import { receiverServer, SECRET } from "../../kit/receiver-server.js";

itWith("postgresql", debianBinaries())(
  "the guide's program delivers, and survives a database that restarts",
  async () => {
    const postgres = (await ownPostgres()) ?? expect.fail("PostgreSQL is missing");
    onTestFinished(() => postgres.stop());
    const blocks = fencedBlocks(join(ROOT, "docs/guides/outbox-postgresql.md"));
    const [block] = blocks;
    const ending = blocks.find(({ text }) => text.includes("export function stopAtSigterm"));
    // One connection is always in use: its loss is an error of its own, which nobody's query hears.
    const more = `pool.on("error", (error) => console.log(error.message)); await (await pool.connect()).query("BEGIN");
      setInterval(() => offboard("u_1").catch(() => {}), 100).unref();
      stopAtSigterm((await import("node:http")).createServer().listen(0, "127.0.0.1"), outbox, pool);`;
    const { code } = await transform(`${block?.text}${ending?.text}${more}`, { loader: "ts", format: "esm" });
    // Below the repository's packages, so that it finds them as a program of its own would.
    const folder = join(ROOT, "node_modules/.cache", `guide-${randomUUID()}`);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "program.mjs"), code);
    const receiver = await receiverServer({});
    const pool = testPool({ connectionString: postgres.url });
    await pool.query("CREATE TABLE IF NOT EXISTS users (id text PRIMARY KEY, active boolean NOT NULL)");
    const program = runExample(relative(EXAMPLES, join(folder, "program.mjs")), [], {
      DATABASE_URL: postgres.url,
      LISTENER_URL: receiver.url,
      LISTENER_SECRET: SECRET,
    });
    onTestFinished(async () => {
      await program.end("SIGKILL");
      await receiver.stop();
      await pool.end();
      rmSync(folder, { recursive: true });
    });
    await expect.poll(() => receiver.runs.size).toBeGreaterThan(1);
    await postgres.kill();
    await expect.poll(() => program.printed()).toMatch(/terminat|ECONN/i);
    const before = receiver.runs.size;
    await postgres.restart();
    await expect.poll(() => receiver.runs.size).toBeGreaterThan(before + 1);
    expect(await program.end("SIGTERM")).toBe(0);
  },
);
