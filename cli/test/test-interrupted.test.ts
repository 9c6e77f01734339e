import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Readable, Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { SECRET } from "../../test/kit/probes/listeners.js";
import { requireBuild } from "../../test/kit/transcript.js";
import { run } from "../src/main.js";

const BIN = resolve(import.meta.dirname, "../bin/hookproof.cjs");
const folder = mkdtempSync(join(tmpdir(), "hookproof-interrupted-"));
beforeAll(requireBuild);
afterAll(() => rmSync(folder, { recursive: true }));

/** A listener that answers 401; from its nth request on it holds the answers, until what is called then lets them go. */
async function holding(from: number, then: () => Promise<unknown> | undefined) {
  const seen = { requests: 0 };
  const held: ServerResponse[] = [];
  let isFree = false;
  const server = createServer((request, response) => {
    request.resume().on("end", () => {
      seen.requests++;
      if (seen.requests < from || isFree) return void response.writeHead(401).end();
      held.push(response);
      if (seen.requests === from)
        void then()?.then(() => {
          isFree = true;
          for (const one of held) one.writeHead(401).end();
        });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { seen, url: `http://127.0.0.1:${port}/api/v1/webhooks/incoming/lst_1` };
}

const env = { HOME: folder, HOOKPROOF_HOME: folder, HOOKPROOF_SECRET: SECRET };

/** A run in this process, with all that it has written to stdout and, as to a terminal, to stderr. */
async function tested(
  url: string,
  stop: AbortController,
  onError: (chunk: string) => void,
  flags: string[],
  stdoutIs: object = {},
) {
  const [printed, drawn]: [string[], string[]] = [[], []];
  const stream = (into: string[], also: (chunk: string) => void = () => {}) =>
    new Writable({
      write(chunk, _encoding, done) {
        into.push(String(chunk));
        also(String(chunk));
        done();
      },
    });
  const io = {
    stdin: Readable.from([]),
    stdout: Object.assign(stream(printed), stdoutIs),
    stderr: Object.assign(stream(drawn, onError), { isTTY: true, columns: 80 }),
    env,
    stopSignal: stop.signal,
  };
  const exit = await run(["test", url, "--allow-trigger", "--method", "hmac", ...flags], io);
  return { exit, printed: printed.join(""), drawn: drawn.join("") };
}

const never = () => undefined;

/** How many requests a whole run sends, and how many of them look for the listener's mistake. */
async function counts() {
  const { url, seen } = await holding(Number.POSITIVE_INFINITY, never);
  const { printed } = await tested(url, new AbortController(), () => {}, ["--json"]);
  const documents = printed
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const { requests } = documents.find(({ type }) => type === "verdict");
  return { all: seen.requests, verdict: requests, probes: documents[0].probes };
}

describe("a run that is interrupted leaves what came until then", () => {
  it("with SIGINT, in its process: the counts, that the verdict is not complete, and 130", async () => {
    let child: ReturnType<typeof spawn> | undefined;
    const { url } = await holding(40, () => {
      child?.kill("SIGINT");
      return undefined;
    });
    child = spawn(process.execPath, [BIN, "test", url, "--method", "hmac"], {
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const [[exit], printed, said] = await Promise.all([
      once(child, "exit"),
      text(child.stdout as Readable),
      text(child.stderr as Readable),
    ]);
    expect([exit, said]).toEqual([130, ""]);
    expect(printed).toMatch(/✖ \d+ pass, \d+ fail, \d+ unclear, \d+ skipped\n/);
    expect(printed).toMatch(/Interrupted after \d+ of 107 probes: the verdict is not complete\.\n/);
  });

  it("in each report, and before the first answer as well", async () => {
    const file = join(folder, "report.xml");
    for (const [from, flags, words] of [
      [1, [], "Interrupted after 0 of 107 probes: the verdict is not complete."],
      [40, ["--reporter", "tap"], /\nBail out! Interrupted after \d+ of 107 probes: the verdict/],
      [40, ["--json"], /"type":"summary","ok":false,.*"incomplete":"Interrupted after \d+ of 107 probes/],
      [40, ["--reporter", "junit", "--out", file], /Interrupted after/],
    ] as const) {
      const stop = new AbortController();
      const { url } = await holding(from, () => {
        stop.abort();
        return undefined;
      });
      const { exit, printed } = await tested(url, stop, () => {}, [...flags]);
      expect(exit).toBe(130);
      expect(printed).toMatch(words);
    }
    expect(readFileSync(file, "utf8")).toMatch(
      /errors="1"[\s\S]*name="proof: the run is complete"[\s\S]*message="Interrupted after \d+ of 107/,
    );
  });

  it("counts no refusal as a pass while no correct request was accepted", async () => {
    const stop = new AbortController();
    const { url } = await holding(95, () => {
      stop.abort();
      return undefined;
    });
    // As a pipe: every result is printed.
    const { exit, printed } = await tested(url, stop, () => {}, ["--json"]);
    const last = JSON.parse(printed.trim().split("\n").at(-1) ?? "");
    expect([exit, last.pass]).toEqual([130, 0]);
    expect(printed).toContain("no correct request was accepted before the interruption");
  });

  it.each([
    ["a pipe", [], {}],
    ["TAP", ["--reporter", "tap"], {}],
    ["a terminal", [], { isTTY: true, columns: 120 }],
  ])("says of such a refusal no more than why it proves nothing: %s", async (_to, flags, stdoutIs) => {
    const stop = new AbortController();
    const { url } = await holding(95, () => {
      stop.abort();
      return undefined;
    });
    const { printed } = await tested(url, stop, () => {}, flags, stdoutIs);
    expect(printed).toContain("no correct request was accepted before the interruption");
    expect(printed).not.toMatch(/(?:means|fix):? +undefined/);
    // On a terminal they are a number.
    if ("isTTY" in stdoutIs)
      expect(printed).toMatch(
        /\n {2}\d+ answers with no proof: no correct request was accepted before the interruption; -v shows each\./,
      );
  });

  it("also while its mistake is looked for: no verdict is made of half a search", async () => {
    const { all, verdict } = await counts();
    const stop = new AbortController();
    const { url } = await holding(all - Math.floor(verdict / 2), () => {
      stop.abort();
      return undefined;
    });
    const { exit, printed } = await tested(url, stop, () => {}, ["--json"]);
    const last = JSON.parse(printed.trim().split("\n").at(-1) ?? "");
    expect([exit, last.incomplete]).toEqual([
      130,
      "Interrupted while looking for the listener's mistake: the verdict is not complete.",
    ]);
    expect(printed).not.toContain('"type":"verdict"');
  });
});

it("the bar counts the requests that look for the mistake, and is not full while one is held", async () => {
  const { all, verdict, probes } = await counts();
  let drawn: (() => void) | undefined;
  const bars: string[] = [];
  const { url } = await holding(
    all - Math.floor(verdict / 2),
    () => new Promise<void>((done) => (drawn = done)),
  );
  const { exit } = await tested(
    url,
    new AbortController(),
    (chunk) => {
      if (drawn === undefined || !chunk.includes("[")) return;
      bars.push(chunk);
      drawn();
    },
    [],
  );
  expect(exit).toBe(7);
  const [, done, total] = /\] (\d+)\/(\d+) /.exec(bars[0] ?? "") ?? [];
  expect(Number(done)).toBeGreaterThan(probes);
  expect(Number(done)).toBeLessThan(Number(total));
  expect(Number(total)).toBeGreaterThan(probes + verdict - 1);
});
