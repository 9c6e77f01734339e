import { execFileSync, spawnSync } from "node:child_process";
import {
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { itWith, POSIX, ROOT } from "../../test/kit/needs.js";
import { hasTool } from "../../test/kit/outside-tool.js";
import { temporaryFolder } from "../../test/kit/temporary-folder.js";
import { run } from "../src/main.js";

/** What every file that a command writes does to what stands in its place already. */

const URL_OF_NOBODY = "http://127.0.0.1:9/api/v1/webhooks/incoming/lst_1";

/** Leaves a socket behind: its process is gone before it could remove it. */
const SOCKET = `require("node:net").createServer().listen(process.argv[1], () => process.kill(process.pid, "SIGKILL"))`;

/** What may stand where a command writes. All of it leads back into the folder of its own test. */
const PLACES: Readonly<Record<string, (path: string, folder: string) => void>> = {
  folder: (path) => mkdirSync(path, { mode: 0o700 }),
  pipe: (path) => void execFileSync("mkfifo", ["-m", "600", path]),
  socket: (path) => void spawnSync(process.execPath, ["-e", SOCKET, path]),
  "link to a device": (path) => symlinkSync("/dev/null", path),
  "link to a file": (path, folder) => symlinkSync(join(folder, "victim"), path),
  "dangling link": (path, folder) => symlinkSync(join(folder, "nowhere"), path),
  "file of another user": (path) => {
    writeFileSync(path, "his", { mode: 0o600 });
    chownSync(path, 4321, 4321);
  },
};

const OWN = {
  folder: "FILE_UNWRITABLE",
  pipe: "FILE_UNWRITABLE",
  socket: "FILE_UNWRITABLE",
  "link to a device": "FILE_UNWRITABLE",
  "link to a file": "replaced",
  "dangling link": "replaced",
  "file of another user": "FILE_UNWRITABLE",
} as const;
const PUBLIC = {
  ...OWN,
  "link to a device": "written to",
  "link to a file": "FILE_IS_LINK",
  "dangling link": "FILE_IS_LINK",
  "file of another user": "written to",
} as const;
const all = (code: string) => Object.fromEntries(Object.keys(PLACES).map((place) => [place, code]));

/** The commands that write a file, and what each makes of a place. */
const WRITERS: Readonly<
  Record<string, readonly [argv: readonly string[], Readonly<Record<string, string>>]>
> = {
  "events export --out": [["events", "export", "last", "--out", "{}"], OWN],
  "service export --out": [["service", "export", "--db", "@service.db", "--out", "{}"], OWN],
  "service start --ready-file": [
    ["service", "start", "--port", "0", "--no-ui", "--db", "@service.db", "--ready-file", "{}"],
    OWN,
  ],
  "test --out": [
    ["test", URL_OF_NOBODY, "--secret-file", "@secret", "--only", "correct-request", "--out", "{}"],
    PUBLIC,
  ],
  "jwks export --out": [["jwks", "export", "--store", "@keys", "--out", "{}"], PUBLIC],
  "listen --write-secret": [
    ["listen", "--port", "0", "--no-ui", "--exit-after", "1ms", "--write-secret", "{}"],
    all("FILE_UNWRITABLE"),
  ],
  "listen --history": [
    ["listen", "--port", "0", "--no-ui", "--exit-after", "1ms", "--history", "{}"],
    {
      ...all("HISTORY_UNREADABLE"),
      "link to a file": "HISTORY_INVALID",
      "dangling link": "made at its end",
      "file of another user": "FILE_OWNER_OTHER",
    },
  ],
  "outbox create": [
    ["outbox", "create", "--outbox", "{}"],
    { ...all("OUTBOX_NOT_FOUND"), "dangling link": "made at its end" },
  ],
  "service seed --db": [
    ["service", "seed", "--users", "1", "--db", "{}"],
    { ...all("DATABASE_UNUSABLE"), "dangling link": "made at its end" },
  ],
  "keys generate --store": [
    ["keys", "generate", "--store", "{}"],
    { ...all("KEY_STORE_UNREADABLE"), folder: "written to" },
  ],
  "jwks publish --folder": [
    [
      "jwks",
      "publish",
      "--store",
      "@keys",
      "--url",
      "https://127.0.0.1:9/f",
      "--settle",
      "0ms",
      "--folder",
      "{folder}",
    ],
    {
      ...all("replaced"),
      folder: "KEY_SET_UPLOAD_FAILED",
      pipe: "KEY_SET_UPLOAD_FAILED",
      socket: "KEY_SET_UPLOAD_FAILED",
    },
  ],
  "profile add --config": [
    ["profile", "add", "one", "--target", ":4400", "--config", "{}"],
    {
      ...all("CONFIG_UNREADABLE"),
      "dangling link": "CONFIG_UNWRITABLE",
      "link to a file": "CONFIG_INVALID",
      "file of another user": "CONFIG_INVALID",
    },
  ],
};

/** The folder in which commands find what they read. */
let stage: string;

async function outcome(argv: readonly string[]): Promise<string> {
  let said = "";
  const controller = new AbortController();
  const sink = (isStarted: boolean) =>
    new Writable({
      write(chunk, _encoding, done) {
        said += String(chunk);
        // A service that prints its address has written its file.
        if (isStarted) controller.abort();
        done();
      },
    });
  const exit = await run(argv, {
    stdin: Readable.from([]),
    stdout: sink(argv[1] === "start"),
    stderr: sink(false),
    env: { HOOKPROOF_HOME: join(stage, "home"), NO_COLOR: "1" },
    stopSignal: controller.signal,
  });
  return `${exit} ${said}`;
}

/** A command with its paths: `{}` is what it writes to, `{folder}` is where that lies, and `@` is the stage. */
const placed = (argv: readonly string[], path: string, folder: string) =>
  argv.map((word) =>
    word
      .replace(/^\{\}$/, path)
      .replace(/^\{folder\}$/, folder)
      .replace(/^@/, `${stage}/`),
  );

/** What stands at a path, as far as nothing may change it. */
function seenAt(path: string): string {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return "nothing";
  const end = stats.isSymbolicLink() ? readlinkSync(path) : "";
  const content = stats.isFile() && stats.uid !== process.getuid?.() ? readFileSync(path, "utf8") : "";
  return `${stats.ino} ${stats.mode} ${stats.uid} ${end} ${content}`;
}

beforeAll(async () => {
  stage = mkdtempSync(join(tmpdir(), "hookproof-written-"));
  writeFileSync(join(stage, "secret"), "a-secret-of-more-than-thirty-two-characters", { mode: 0o600 });
  const send = ["send", URL_OF_NOBODY, "--data", "{}", "--retries", "0", "--timeout", "1s"];
  await outcome([...send, "--secret-file", join(stage, "secret")]);
  await outcome(["service", "seed", "--users", "1", "--db", join(stage, "service.db")]);
  await outcome(["keys", "generate", "--store", join(stage, "keys")]);
});
afterAll(() => rmSync(stage, { recursive: true, force: true }));

describe.each(Object.entries(WRITERS))("%s", (_name, [argv, expected]) => {
  for (const [place, make] of Object.entries(PLACES)) {
    const needed = needsOf(place);
    itWith(needed[0], needed[1])(`at a ${place}: ${expected[place]}`, async () => {
      const folder = temporaryFolder("place");
      const path = join(folder, "f");
      writeFileSync(join(folder, "victim"), "kept", { mode: 0o600 });
      make(path, folder);
      const before = seenAt(path);
      const said = await outcome(placed(argv, path, folder));
      expect(said).not.toMatch(/error\[(?:UNEXPECTED|E[A-Z]+)\]|E[A-Z]{4,}:/);
      expect(readFileSync(join(folder, "victim"), "utf8")).toBe("kept");
      const what = expected[place] ?? "";
      expect(existsSync(join(folder, "nowhere")), said).toBe(what === "made at its end");
      expect(readdirSync(folder).filter((name) => /tmp$|journal$/.test(name))).toEqual([]);
      if (what === "replaced")
        return expect(lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink(), said).not.toBe(true);
      if (/^[A-Z_]+$/.test(what)) expect(said).toMatch(new RegExp(`^[2356] (?:.*\\n)*.*${what}\\b`));
      else expect(said).not.toMatch(/error\[(?:FILE|KEY|OUTBOX|DATABASE|HISTORY|CONFIG)_/);
      if (place === "file of another user" && what === "written to") return;
      expect(seenAt(path), said).toBe(before);
    });
  }
});

function needsOf(place: string): readonly [what: string, isThere: boolean] {
  if (place === "pipe") return ["mkfifo", hasTool("mkfifo", "--version")];
  return place === "file of another user" ? ROOT : POSIX;
}

it.each([
  ["listen", "--history", "--port", "0", "--no-ui", "--exit-after", "1ms"],
  ["outbox create", "--outbox"],
  ["service seed", "--db", "--users", "1"],
])("SQLite's name for a database in memory is none of a file: %s %s", async (name, flag, ...words) => {
  const said = await outcome([...name.split(" "), ...words, flag, ":memory:"]);
  expect(said).toMatch(new RegExp(`^2 (?:.*\\n)*.*error\\[USAGE\\]  ${flag} must be a file`));
  expect(existsSync(":memory:")).toBe(false);
});
