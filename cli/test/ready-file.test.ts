import { once } from "node:events";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { afterEach, describe, expect, it } from "vitest";
import { temporaryFolder } from "../../test/kit/temporary-folder.js";
import { run } from "../src/main.js";

/** `service start --ready-file` in a folder that others may write to, such as /tmp. */

const stop = new Set<AbortController>();
afterEach(() => {
  for (const one of stop) one.abort();
});

function started(folder: string, readyFile: string) {
  const controller = new AbortController();
  stop.add(controller);
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const argv = ["service", "start", "--port", "0", "--no-ui", "--users", "1", "--ready-file", readyFile];
  const ended = run([...argv, "--db", join(folder, "service.db")], {
    stdin: Readable.from([]),
    stdout,
    stderr,
    env: { HOOKPROOF_HOME: join(folder, "home"), NO_COLOR: "1" },
    stopSignal: controller.signal,
  });
  return {
    /** The address is printed once the file is there. */
    printed: once(stdout, "data"),
    async end() {
      controller.abort();
      const exit = await ended;
      stderr.end();
      return { exit, seen: await text(stderr) };
    },
    ended,
  };
}

describe("the ready file", () => {
  it("is the user's own, and follows no link that was there before it", async () => {
    const folder = temporaryFolder("ready");
    const [file, victim] = [join(folder, "ready.json"), join(folder, "victim")];
    writeFileSync(victim, "kept");
    symlinkSync(victim, file);
    symlinkSync(victim, `${file}.${process.pid}.tmp`);
    const service = started(folder, file);
    await service.printed;
    expect(lstatSync(file).isSymbolicLink()).toBe(false);
    expect(lstatSync(file).mode & 0o777).toBe(0o600);
    expect(Object.keys(JSON.parse(readFileSync(file, "utf8")))).toEqual([
      "url",
      "clientId",
      "clientSecretFile",
      "controlTokenFile",
    ]);
    expect(readFileSync(victim, "utf8")).toBe("kept");
    expect((await service.end()).exit).toBe(0);
    expect(existsSync(file)).toBe(false);
  });

  it("that cannot be written leaves nothing behind", async () => {
    const folder = temporaryFolder("ready");
    mkdirSync(join(folder, "ready.json"));
    const service = started(folder, join(folder, "ready.json"));
    await service.ended;
    const { exit, seen } = await service.end();
    expect([exit, seen]).toEqual([3, expect.stringContaining("FILE_UNWRITABLE")]);
    expect(readdirSync(folder).filter((name) => name.endsWith(".tmp"))).toEqual([]);
    expect(readdirSync(join(folder, "home", "sessions"))).toEqual([]);
  });
});
