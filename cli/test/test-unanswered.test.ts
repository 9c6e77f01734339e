// Where a listener hangs or nobody listens, a report for programs is written all the same, with the failure in it.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { afterAll, expect, it, onTestFinished } from "vitest";
import { SECRET } from "../../test/kit/probes/listeners.js";
import { run } from "../src/main.js";

const folder = mkdtempSync(join(tmpdir(), "hookproof-unanswered-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** A listener that takes requests and never answers. */
async function hanging(onRequest: () => void = () => {}) {
  const server = createServer((request) => request.resume().on("end", onRequest));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  onTestFinished(close);
  const { port } = server.address() as AddressInfo;
  return { close, url: `http://127.0.0.1:${port}/api/v1/webhooks/incoming/lst_1` };
}

async function tested(url: string, flags: readonly string[], stop = new AbortController()) {
  const printed: string[] = [];
  const stream = (into: string[]) =>
    new Writable({
      write(chunk, _encoding, done) {
        into.push(String(chunk));
        done();
      },
    });
  const io = {
    stdin: Readable.from([]),
    stdout: stream(printed),
    stderr: stream([]),
    env: { HOME: folder, HOOKPROOF_HOME: folder, HOOKPROOF_SECRET: SECRET },
    stopSignal: stop.signal,
  };
  const exit = await run(["test", url, "--method", "hmac", "--timeout", "300ms", ...flags], io);
  return { exit, printed: printed.join("") };
}

it.each([[["--allow-trigger"]], [[]]])(
  "a listener that hangs is an error of JUnit and a failure of TAP: %j",
  async (trigger) => {
    const { url } = await hanging();
    const junit = await tested(url, [...trigger, "--reporter", "junit"]);
    expect(junit.exit).toBe(6);
    expect(junit.printed).toMatch(
      /<error message="Ended by an error after \d+ of \d+ probes: .* No complete answer within 300 ms\."\/>/,
    );
    expect(junit.printed.trimEnd()).toMatch(/<\/testsuites>$/);
    const tap = await tested(url, [...trigger, "--reporter", "tap"]);
    expect(tap.exit).toBe(6);
    expect(tap.printed).toMatch(/^(?:not ok|Bail out!).* No complete answer within 300 ms\./m);
    const lines = await tested(url, [...trigger, "--reporter", "jsonl"]);
    const last = JSON.parse(lines.printed.trimEnd().split("\n").at(-1) ?? "");
    expect(last).toMatchObject({
      type: "summary",
      ok: false,
      incomplete: expect.stringContaining("No complete"),
    });
  },
);

it("nobody listens: the file of --out has the failure, and people read the error alone", async () => {
  const { url, close } = await hanging();
  close();
  const file = join(folder, "probes.xml");
  expect((await tested(url, ["--reporter", "junit", "--out", file])).exit).toBe(6);
  expect(readFileSync(file, "utf8")).toMatch(/errors="1"[\s\S]*<error message="Ended by an error after /);
  expect((await tested(url, ["--allow-trigger"])).printed).toBe("");
});

it("interrupted while it hangs, the report is written as well", async () => {
  const stop = new AbortController();
  const { url } = await hanging(() => stop.abort("SIGTERM"));
  const { exit, printed } = await tested(url, ["--allow-trigger", "--reporter", "junit"], stop);
  expect(exit).toBe(130);
  expect(printed).toMatch(
    /<error message="Interrupted after \d+ of \d+ probes: the verdict is not complete\."\/>/,
  );
});
