// Standard input and databases that cannot be read, or signed in to: named, and the process ends.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { beforeAll, expect, it } from "vitest";
import { itWith, POSIX } from "../../test/kit/needs.js";
import { temporaryFolder } from "../../test/kit/temporary-folder.js";
import { requireBuild } from "../../test/kit/transcript.js";

beforeAll(requireBuild);

const BIN = join(import.meta.dirname, "../bin/hookproof.cjs");
const NOBODY = "http://127.0.0.1:9/api/v1/webhooks/incoming/lst_1";

/** Runs the built command in a folder with this standard input, and waits until its process has ended. */
async function ran(folder: string, words: readonly string[], input: number | "ignore") {
  const { PATH } = process.env;
  const child = spawn(process.execPath, [BIN, ...words], {
    cwd: folder,
    env: { PATH, HOOKPROOF_HOME: folder, NO_COLOR: "1" },
    stdio: [input, "pipe", "pipe"],
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.on("data", (chunk) => {
      said += chunk;
    });
  const [code] = await once(child, "close");
  return { code, said };
}

const READERS = [
  ["verify", "-", "--secret-file", "secret.txt"],
  ["send", NOBODY, "--secret-file", "secret.txt", "--data", "-"],
  ["send", NOBODY, "--secret-file", "secret.txt", "--data", "@-", "--batch"],
  ["sign", "--secret-file", "-", "--data", "{}"],
  ["inspect"],
  ["keys", "import", "-", "--kid", "k"],
  ["replay", "-"],
  ["mcp"],
];

itWith(...POSIX)("a folder, or a file that is open for writing, is no standard input", async () => {
  const folder = temporaryFolder("standard-input-");
  writeFileSync(join(folder, "secret.txt"), "a-secret-of-more-than-thirty-two-characters", { mode: 0o600 });
  const [aFolder, written] = [openSync(folder, "r"), openSync(join(folder, "written"), "w")];
  for (const words of READERS) {
    for (const [input, reason] of [
      [aFolder, "it is a folder"],
      [written, "it is not open for reading"],
    ] as const) {
      const said = `error[FILE_UNREADABLE]  Standard input cannot be read: ${reason}.\n`;
      expect({ words, ...(await ran(folder, words, input)) }).toEqual({ words, code: 3, said });
    }
  }
  closeSync(aFolder);
  closeSync(written);
});

it("data and secret are not both read from standard input, however it is written", async () => {
  const folder = temporaryFolder("standard-input-");
  const { code, said } = await ran(folder, ["sign", "--secret-file", "-", "--data", "@-"], "ignore");
  expect(code).toBe(2);
  expect(said).toContain("Only one of --data and --secret-file can be standard input.");
});

it("a database that asks for a password which nobody has is named, and the command ends", async () => {
  // What PostgreSQL sends first to whoever has to sign in by SCRAM-SHA-256.
  const mechanisms = Buffer.from("SCRAM-SHA-256\0\0");
  const asks = Buffer.alloc(9);
  asks.write("R");
  asks.writeInt32BE(8 + mechanisms.length, 1);
  asks.writeInt32BE(10, 5);
  const begins = Buffer.alloc(9);
  begins.write("R");
  const first = Buffer.from("r=x,s=QSXCR+Q6sek8bf92,i=4096");
  begins.writeInt32BE(8 + first.length, 1);
  begins.writeInt32BE(11, 5);
  const server = createServer((socket) => {
    const answers = [Buffer.concat([asks, mechanisms]), Buffer.concat([begins, first])];
    socket.on("data", () => socket.write(answers.shift() ?? ""));
    socket.on("error", () => {});
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  const url = `postgres://somebody@127.0.0.1:${port}/shop`;
  const { code, said } = await ran(
    temporaryFolder("standard-input-"),
    ["outbox", "status", "--outbox", url],
    "ignore",
  );
  server.close();
  expect(code).toBe(3);
  expect(said).toContain(
    `127.0.0.1:${port}/shop cannot be opened: it asks for a password, and there is none.`,
  );
  expect(said).toContain("Use PGPASSWORD");
});

itWith(...POSIX)("an outbox that this user may not read is named with the reason", async () => {
  const folder = temporaryFolder("standard-input-");
  writeFileSync(join(folder, "sealed.db"), "x", { mode: 0o000 });
  const { code, said } = await ran(folder, ["outbox", "status", "--outbox", "sealed.db"], "ignore");
  const reason = process.getuid?.() === 0 ? "file is not a database" : "this user may not"; // root reads all
  expect(code).toBe(3);
  expect(said).toContain(`--outbox sealed.db cannot be opened: ${reason}.`);
});
