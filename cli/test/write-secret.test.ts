import { once } from "node:events";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { createSender, hmacSigner } from "hookproof";
import { describe, expect, it, onTestFinished } from "vitest";
import { temporaryFolder } from "../../test/kit/temporary-folder.js";
import { run } from "../src/main.js";

function listening(folder: string, flags: readonly string[]) {
  const controller = new AbortController();
  onTestFinished(() => controller.abort());
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const ended = run(["listen", "--port", "0", "--no-ui", ...flags], {
    stdin: Readable.from([]),
    stdout,
    stderr,
    env: { HOOKPROOF_HOME: join(folder, "home"), NO_COLOR: "1" },
    stopSignal: controller.signal,
  });
  return {
    url: once(stdout, "data").then(([line]) => String(line).trim()),
    async end() {
      controller.abort();
      const code = await ended;
      stderr.end();
      return { code, said: await text(stderr) };
    },
  };
}

describe("listen --write-secret", () => {
  it("gives a test the secret that it signs with, for its owner alone, and removes it at the end", async () => {
    const folder = temporaryFolder("write-secret");
    const file = join(folder, "secret.txt");
    const listener = listening(folder, ["--write-secret", file]);
    const url = await listener.url;
    expect(lstatSync(file).mode & 0o777).toBe(0o600);
    const secret = readFileSync(file, "utf8").trim();
    const sender = createSender({ url, signer: hmacSigner({ secret }), retry: { maxAttempts: 1 } });
    expect(await sender.send({ a: 1 })).toMatchObject({ outcome: "accepted" });
    const { code, said } = await listener.end();
    expect(code).toBe(0);
    expect(said).not.toContain(secret);
    expect(existsSync(file)).toBe(false);
  });

  it.each(["a file", "a link", "a link to nothing"])(
    "refuses %s that is there, and leaves it",
    async (what) => {
      const folder = temporaryFolder("write-secret");
      const [file, other] = [join(folder, "secret.txt"), join(folder, "other.txt")];
      if (what !== "a link to nothing") writeFileSync(what === "a file" ? file : other, "mine");
      if (what !== "a file") symlinkSync(other, file);
      const { code, said } = await listening(folder, ["--write-secret", file]).end();
      expect(code).toBe(3);
      expect(said).toContain("error[FILE_UNWRITABLE]");
      expect(existsSync(other)).toBe(what === "a link");
      if (what !== "a link to nothing") expect(readFileSync(file, "utf8")).toBe("mine");
      expect(lstatSync(file).isSymbolicLink()).toBe(what !== "a file");
    },
  );

  it.each(["a file in its place", "another folder in its folder's place"])(
    "leaves %s as it is at the end",
    async (what) => {
      const folder = temporaryFolder("write-secret");
      const [own, victim] = [join(folder, "own"), join(folder, "victim")];
      for (const made of [own, victim]) mkdirSync(made);
      const file = join(own, "secret.txt");
      const listener = listening(folder, ["--write-secret", file]);
      await listener.url;
      writeFileSync(join(victim, "secret.txt"), "kept");
      if (what === "a file in its place") renameSync(join(victim, "secret.txt"), file);
      else {
        renameSync(own, `${own}.old`);
        symlinkSync(victim, own);
      }
      expect((await listener.end()).code).toBe(0);
      expect(readFileSync(file, "utf8")).toBe("kept");
    },
  );
});
