import { execFile, execFileSync } from "node:child_process";
import { chmodSync, existsSync } from "node:fs";
import { link, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createService, exampleRoutes, resetDatabase, seedDatabase } from "hookproof-service";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { openDatabase } from "../../service/src/storage/database.js";
import { describeWith, POSIX } from "../kit/needs.js";
import { dataFolder } from "../kit/own-server.js";

const CLI = fileURLToPath(new URL("../../cli/bin/hookproof.cjs", import.meta.url));

let folder: string;
let db: string;
beforeAll(async () => {
  folder = await dataFolder("private");
  db = join(folder, "service.db");
  await seedDatabase({ db, users: 1 });
});
afterAll(() => rm(folder, { recursive: true }));

/** Does something while others may read a file, and makes it private again. */
async function whileOpen<Result>(file: string, mode: number, work: () => Promise<Result>): Promise<Result> {
  chmodSync(file, mode);
  try {
    return await work();
  } finally {
    chmodSync(file, 0o600);
  }
}

function run(...args: string[]): Promise<{ code: unknown; stderr: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [CLI, ...args], (error, _stdout, stderr) =>
      resolve({ code: error?.code ?? 0, stderr }),
    );
  });
}

describeWith(...POSIX)("a file of the service that others can read", () => {
  it.each([0o644, 0o640, 0o604, 0o660, 0o666])("the database with mode %o is refused", async (mode) => {
    const works: (() => Promise<unknown>)[] = [
      () => createService({ db }),
      () => seedDatabase({ db, users: 1, replace: true }),
      () => resetDatabase({ db }),
      () => exampleRoutes({ db, baseUrl: "" }),
    ];
    for (const work of works)
      await expect(whileOpen(db, mode, work)).rejects.toMatchObject({
        code: "FILE_MODE_TOO_WIDE",
        message: `${db} can be read by others.`,
      });
  });

  it.each(["-wal", "-shm"])("the log of a database in use, %s", async (ending) => {
    const beside = await openDatabase(db);
    expect(existsSync(db + ending)).toBe(true);
    const opened = whileOpen(db + ending, 0o644, () => openDatabase(db));
    await expect(opened).rejects.toMatchObject({ message: `${db + ending} can be read by others.` });
    beside.close();
  });

  it("the identity that texts are encrypted to is refused at the start", async () => {
    const works: (() => Promise<unknown>)[] = [
      () => createService({ db }),
      () => seedDatabase({ db, users: 1, replace: true }),
      () => resetDatabase({ db }),
      () => exampleRoutes({ db, baseUrl: "" }),
    ];
    for (const work of works)
      await expect(whileOpen(`${db}.identity`, 0o644, work)).rejects.toMatchObject({
        code: "FILE_MODE_TOO_WIDE",
        message: `${db}.identity can be read by others.`,
      });
  });

  it("ends a command with the mode to set", async () => {
    for (const command of ["start", "reset", "routes"]) {
      const args = ["service", command, "--db", db, ...(command === "reset" ? ["--yes"] : [])];
      const { code, stderr } = await whileOpen(db, 0o644, () => run(...args));
      expect([command, code]).toEqual([command, 3]);
      expect(stderr).toContain("error[FILE_MODE_TOO_WIDE]");
      expect(stderr).toContain(`chmod 600 ${db}`);
    }
  });

  it("is good once it is private", async () => {
    await using service = await createService({ db });
    expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
  });
});

it("a value that SQLite has no type for is an error, and does not end the process", async () => {
  const memory = await openDatabase();
  const statement = memory.prepare("SELECT ? AS a");
  for (const wrong of [{ a: 1 }, [1], true, undefined, 1n, () => 1, new Date(0)])
    expect(() => statement.all(wrong as never)).toThrow(TypeError);
  expect(statement.all("x")).toEqual([{ a: "x" }]);
  memory.close();
});

describeWith(...POSIX)("a link next to a database", () => {
  const ENDINGS = ["-wal", "-shm", "-journal", ".running", ".running-wal", ".running-journal", ".objects"];

  it.each(ENDINGS)("is refused, and its end stays as it is: %s", async (ending) => {
    const own = await dataFolder("linked");
    onTestFinished(() => rm(own, { recursive: true }));
    const file = join(own, "service.db");
    const [victim, alias] = [join(own, "victim"), join(own, "alias.db")];
    await seedDatabase({ db: file, users: 1 });
    await writeFile(victim, "mine, and to be kept", { mode: 0o600 });
    await rm(file + ending, { recursive: true, force: true });
    await symlink(victim, file + ending);
    await symlink(file, alias);
    const works: [db: string, work: (db: string) => Promise<unknown>][] = [
      [file, (given) => createService({ db: given })],
      [file, (given) => seedDatabase({ db: given, users: 1, replace: true })],
      [alias, (given) => resetDatabase({ db: given })],
      [file, (given) => exampleRoutes({ db: given, baseUrl: "" })],
    ];
    for (const [given, work] of works)
      await expect(work(given)).rejects.toMatchObject({
        code: "FILE_IS_LINK",
        message: `${file + ending} is a link, and its end would be written to.`,
      });
    expect(await readFile(victim, "utf8")).toBe("mine, and to be kept");
  });

  it.each(["-wal", "-shm", ".running"])("so is a hard one: %s", async (ending) => {
    const own = await dataFolder("linked");
    onTestFinished(() => rm(own, { recursive: true }));
    const [file, victim] = [join(own, "service.db"), join(own, "victim")];
    await seedDatabase({ db: file, users: 1 });
    await writeFile(victim, "mine, and to be kept", { mode: 0o600 });
    await rm(file + ending, { force: true });
    await link(victim, file + ending);
    await expect(createService({ db: file })).rejects.toMatchObject({ code: "FILE_IS_LINK" });
    expect(await readFile(victim, "utf8")).toBe("mine, and to be kept");
  });

  it.each([
    ["symbolic", symlink],
    ["hard", link],
  ])("at the identity of its texts is refused, a %s one", async (_kind, make) => {
    const own = await dataFolder("linked");
    onTestFinished(() => rm(own, { recursive: true }));
    const [file, victim] = [join(own, "service.db"), join(own, "victim")];
    await seedDatabase({ db: file, users: 1 });
    await rename(`${file}.identity`, victim);
    await make(victim, `${file}.identity`);
    const works: (() => Promise<unknown>)[] = [
      () => createService({ db: file }),
      () => seedDatabase({ db: file, users: 1, replace: true }),
      () => resetDatabase({ db: file }),
    ];
    for (const work of works)
      await expect(work()).rejects.toMatchObject({
        code: "FILE_IS_LINK",
        message: `${file}.identity is a link, and its end would be read.`,
      });
    const { code, stderr } = await run("service", "reset", "--yes", "--db", file);
    expect([code, stderr.includes("error[FILE_IS_LINK]")]).toEqual([3, true]);
  });

  it("an identity that a start left between its two names is still read", async () => {
    const own = await dataFolder("linked");
    onTestFinished(() => rm(own, { recursive: true }));
    const file = join(own, "service.db");
    await seedDatabase({ db: file, users: 1 });
    await link(`${file}.identity`, `${file}.identity.0123456789ab.tmp`);
    await using service = await createService({ db: file });
    expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
  });

  it("a pipe in the place of the identity is refused, and not waited for", async () => {
    const own = await dataFolder("linked");
    onTestFinished(() => rm(own, { recursive: true }));
    const file = join(own, "service.db");
    await seedDatabase({ db: file, users: 1 });
    await rm(`${file}.identity`);
    execFileSync("sh", ["-c", 'mkfifo -m 600 "$0"', `${file}.identity`]);
    await expect(createService({ db: file })).rejects.toMatchObject({ code: "ENXIO" });
  });

  it.each([
    ["symbolic", symlink],
    ["hard", link],
  ])("at a token or secret next to it is refused, a %s one", async (_kind, make) => {
    const own = await dataFolder("linked");
    onTestFinished(() => rm(own, { recursive: true }));
    const [file, victim] = [join(own, "service.db"), join(own, "victim")];
    await seedDatabase({ db: file, users: 1 });
    await writeFile(victim, "what-another-program-keeps-secret", { mode: 0o600 });
    await make(victim, `${file}.control-token`);
    await make(victim, `${file}.client-secret`);
    // Nothing listens there: the refusal comes before anything is sent.
    const reached = ["--base-url", "http://127.0.0.1:9", "--db", file];
    for (const args of [
      ["service", "start", "--port", "0", "--db", file],
      ["service", "clock", ...reached],
      ["service", "token", ...reached],
    ]) {
      const { code, stderr } = await run(...args);
      expect([args[1], code, stderr]).toEqual([args[1], 3, expect.stringContaining("error[FILE_IS_LINK]")]);
    }
    expect(await readFile(victim, "utf8")).toBe("what-another-program-keeps-secret");
  });

  it("also where it leads nowhere yet, and the command says so", async () => {
    const own = await dataFolder("linked");
    onTestFinished(() => rm(own, { recursive: true }));
    const file = join(own, "service.db");
    await seedDatabase({ db: file, users: 1 });
    await symlink(join(own, "nowhere"), `${file}-journal`);
    const { code, stderr } = await run("service", "reset", "--yes", "--db", file);
    expect([code, stderr.includes("error[FILE_IS_LINK]")]).toEqual([3, true]);
    expect(existsSync(join(own, "nowhere"))).toBe(false);
  });
});
