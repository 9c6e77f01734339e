// A comparison leaves alone what its own process has open.
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { openSqlite } from "hookproof/node";
import { seedDatabase } from "hookproof-service";
import { beforeAll, expect, it } from "vitest";
import { temporaryFolder } from "../../test/kit/temporary-folder.js";
import { requireBuild } from "../../test/kit/transcript.js";
import { run } from "../src/main.js";

const OTHER_PROCESS = `
  import { openSqlite } from "hookproof/node";
  const db = openSqlite(process.argv[1]);
  db.prepare("SELECT count(*) FROM users").all();
  db.close();`;

beforeAll(requireBuild);

it("service diff keeps the locks of a database that this process has open", async () => {
  const db = join(temporaryFolder("cli-diff"), "team.db");
  await seedDatabase({ db, users: 2 });
  const open = openSqlite(db);
  open.exec("INSERT INTO meta (name, value) VALUES ('a', '1')");
  const printed: string[] = [];
  const write = () =>
    new Writable({
      write(chunk, _encoding, done) {
        printed.push(String(chunk));
        done();
      },
    });
  const exit = await run(["service", "diff", db, db], {
    stdin: Readable.from([]),
    stdout: write(),
    stderr: write(),
    env: {},
    stopSignal: new AbortController().signal,
  });
  expect(printed.join("")).toBe("The states do not differ.\n");
  expect(exit).toBe(0);
  // The last to close a database removes its log: another process must not take itself for the last.
  execFileSync(process.execPath, ["--input-type=module", "--eval", OTHER_PROCESS, db]);
  expect(existsSync(`${db}-wal`)).toBe(true);
  open.close();
});
