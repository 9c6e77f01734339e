import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import { SECRET } from "../../test/kit/probes/listeners.js";
import { run } from "../src/main.js";

const folder = mkdtempSync(join(tmpdir(), "hookproof-proof-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** A listener that gives every request the same answer. */
async function answering(status: number, headers: Record<string, string> = {}) {
  const server = createServer((request, response) => {
    request.resume().on("end", () => response.writeHead(status, headers).end());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1/webhooks/incoming/lst_1`;
}

async function probed(url: string, ...flags: string[]) {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const env = { HOME: folder, HOOKPROOF_HOME: folder, HOOKPROOF_SECRET: SECRET };
  const io = { stdin: Readable.from([]), stdout, stderr, env, stopSignal: new AbortController().signal };
  const argv = ["test", url, "--method", "hmac", ...flags];
  const [exit, printed] = await Promise.all([run(argv, io).finally(() => stdout.end()), text(stdout)]);
  return { exit, printed, last: printed.trim().split("\n").at(-1) ?? "" };
}

describe("a run that proves nothing is no success", () => {
  const limited = () => answering(429, { "Retry-After": "0" });

  it("where every answer is 429, in each report", async () => {
    const pretty = await probed(await limited(), "--allow-trigger");
    expect(pretty.exit).toBe(8);
    expect(pretty.printed).not.toContain("✔");
    expect(pretty.printed).toMatch(/✖ Nothing was proved: 10\d of 10\d answers were 429\. Something limits/);
    const file = join(folder, "report.xml");
    expect((await probed(await limited(), "--reporter", "junit", "--out", file)).exit).toBe(8);
    expect(readFileSync(file, "utf8")).toMatch(/errors="1"[\s\S]*<error message="Nothing was proved/);
    const tap = await probed(await limited(), "--reporter", "tap");
    expect([tap.exit, tap.printed]).toEqual([8, expect.stringContaining("Bail out! Nothing was proved")]);
    const json = JSON.parse((await probed(await limited(), "--json")).last);
    expect(json).toMatchObject({ type: "summary", ok: false, pass: 0, fail: 0 });
    expect(json.nothing).toContain("Nothing was proved");
  });

  it.each([
    ["nothing is left", ["--skip", "*"], "no probe is left to be sent"],
    ["all is skipped", ["--only", "correct-request"], "1 probe would run the automation"],
    ["nothing is left, in a report", ["--skip", "*", "--reporter", "junit"], 'errors="1"'],
  ])("where %s", async (_, flags, words) => {
    const { exit, printed } = await probed("http://127.0.0.1:9/api/v1/webhooks/incoming/x", ...flags);
    expect(exit).toBe(8);
    expect(printed).toContain(words);
  });
});

/** A listener that answers as one with another secret does, and 429 from some request on. */
async function limitedFrom(first: number) {
  let requests = 0;
  const server = createServer((request, response) => {
    request.resume().on("end", () => {
      const isLimited = ++requests >= first;
      const isAsked = request.headers["webhook-timestamp"] !== undefined;
      if (isLimited) response.writeHead(429, { "Retry-After": "0" }).end();
      else response.writeHead(isAsked ? 401 : 400).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1/webhooks/incoming/lst_1`;
}

it("a rate limit that refuses some probes leaves no success, in each report", async () => {
  const three = ["--only", "timestamp-missing", "--only", "signature-*", "--concurrency", "1"];
  const words = /Not all was proved: \d+ of \d+ answers were 429\. Something limits/;
  const pretty = await probed(await limitedFrom(6), ...three);
  expect([pretty.exit, pretty.printed]).toEqual([8, expect.stringMatching(words)]);
  expect(pretty.printed).toMatch(/✖ Not all/);
  const tap = await probed(await limitedFrom(6), ...three, "--reporter", "tap");
  expect([tap.exit, tap.printed]).toEqual([8, expect.stringContaining("Bail out! Not all was proved")]);
  const junit = await probed(await limitedFrom(6), ...three, "--reporter", "junit");
  expect([junit.exit, junit.printed]).toEqual([
    8,
    expect.stringMatching(/errors="1"[\s\S]*Not all was proved/),
  ]);
  const json = await probed(await limitedFrom(6), ...three, "--json");
  expect([json.exit, JSON.parse(json.last)]).toMatchObject([8, { ok: false, fail: 0 }]);
  expect(JSON.parse(json.last).pass).toBeGreaterThan(0);
});

it("with --expect the answers count, and not what they prove, unless none can be compared", async () => {
  const profile = join(folder, "unclear.json");
  const open = ["--only", "body-not-json-bad-proof"]; // the specification leaves the answer open
  expect((await probed(await answering(422), ...open, "--record", profile)).exit).toBe(8);
  expect((await probed(await answering(422), ...open, "--expect", profile)).exit).toBe(0);
  expect((await probed(await answering(418), ...open, "--expect", profile)).exit).toBe(7);
  const limited = await probed(await answering(429, { "Retry-After": "0" }), ...open, "--expect", profile);
  expect(limited).toMatchObject({
    exit: 8,
    printed: expect.stringContaining("none of the answers that came"),
  });
  expect((await probed(await answering(200), "--only", "timestamp-missing", "--expect", profile)).exit).toBe(
    8,
  );
});

it("with --expect it is said how much of the profile was compared", async () => {
  const profile = join(folder, "two.json");
  const one = ["--only", "body-not-json-bad-proof"];
  await probed(await answering(422), ...one, "--record", profile);
  const whole = await probed(await answering(422), ...one, "--expect", profile);
  expect(whole.last).toBe("The listener behaves as the profile says.");
  const { answers, ...rest } = JSON.parse(readFileSync(profile, "utf8"));
  const two = { ...answers, "timestamp-missing": answers["body-not-json-bad-proof"] };
  writeFileSync(profile, JSON.stringify({ ...rest, answers: two }));
  const half = await probed(await answering(422), ...one, "--expect", profile);
  expect([half.exit, half.last]).toEqual([0, "The listener behaves as the profile says in 1 of 2 answers."]);
});

it("a refusal is no pass where correct requests are refused as well", async () => {
  const { exit, last } = await probed(await answering(401), "--allow-trigger", "--json");
  expect([exit, JSON.parse(last)]).toMatchObject([7, { type: "summary", ok: false, pass: 0 }]);
  const pretty = await probed(await answering(401), "--allow-trigger");
  expect(pretty.printed).toMatch(/✖ 0 pass, \d+ fail/);
});
