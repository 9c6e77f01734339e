// Which setting, profile and secret counts where several are given; and what a run of probes has proved.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import type { ProbeResult } from "hookproof/probes";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../../test/kit/temporary-folder.js";
import { loadConfig } from "../src/config/config.js";
import type { FoundSecrets } from "../src/credentials/origin-rule.js";
import { findSecrets } from "../src/credentials/secrets.js";
import { storeSecrets } from "../src/credentials/stored-secrets.js";
import { checkedPort } from "../src/credentials/typed-target.js";
import type { Io } from "../src/io.js";
import { pretty, tap } from "../src/reporters/formats.js";
import { weighed, whyNothing } from "../src/reporters/proof.js";

function ioOf(env: Record<string, string> = {}): Io {
  const sink = () => new Writable({ write: (_chunk, _encoding, done) => done() });
  const stopSignal = new AbortController().signal;
  return { stdin: Readable.from([]), stdout: sink(), stderr: sink(), env, stopSignal };
}

/** A home with a file of the user's, and a project with one. */
function folders(user: object, project: object) {
  const folder = temporaryFolder("settings-order");
  const home = join(folder, "home");
  mkdirSync(home, { mode: 0o700 });
  const projectPath = join(folder, "project.json");
  writeFileSync(join(home, "config.json"), JSON.stringify(user), { mode: 0o600 });
  writeFileSync(projectPath, JSON.stringify(project));
  const load = (
    env: Record<string, string> = {},
    flags: Record<string, readonly string[]> = {},
    named: object = {},
  ) =>
    loadConfig(ioOf({ HOOKPROOF_HOME: home, ...env }), {
      config: projectPath,
      given: (flag) => flags[flag] ?? [],
      ...named,
    });
  return { home, projectPath, load };
}

describe("a setting", () => {
  const loadOf = () =>
    folders(
      { timeout: "4s", retries: 3 },
      { timeout: "3s", profile: "p", profiles: { p: { timeout: "2s" } } },
    ).load;

  it("is that of a flag, else of a variable, the profile, the project, the user", () => {
    const load = loadOf();
    expect(load({ HOOKPROOF_TIMEOUT: "1s" }, { timeout: ["500ms"] }).find("timeout")).toMatchObject({
      ...{ value: "500ms", origin: "--timeout" },
    });
    expect(load({ HOOKPROOF_TIMEOUT: "1s" }).text("timeout")).toBe("1s");
    expect(load().text("timeout")).toBe("2s");
    expect(load({}, {}, { profile: "other" }).text("timeout")).toBe("3s");
    expect(load().text("retries")).toBe("3");
  });

  it("of several values has all of them, and one of one value the first", () => {
    const load = loadOf();
    const several = load({}, { "secret-file": ["/a", "/b"], timeout: ["1s", "2s"] });
    expect([several.texts("secretFiles"), several.texts("timeout")]).toEqual([["/a", "/b"], ["1s"]]);
    expect(load({ HOOKPROOF_SECRET_FILE: "/a" }).texts("secretFiles")).toEqual(["/a"]);
  });

  it("of a variable that is wrong is told by the variable's name", () => {
    const load = loadOf();
    expect(() => load({ HOOKPROOF_TIMEOUT: "soon" }).find("timeout")).toThrow(
      expect.objectContaining({
        code: "CONFIG_INVALID",
        message: expect.stringMatching(/^HOOKPROOF_TIMEOUT .*"soon"\.$/),
      }),
    );
  });
});

describe("a profile", () => {
  const bothOf = () => folders({ profile: "of-user" }, {});
  it("is that of the flag, else of the variable, the nearest file that names one, or the default", () => {
    const both = bothOf();
    const chosen = (env: Record<string, string> = {}, named: object = {}) =>
      both.load(env, {}, named).profile;
    expect(chosen({ HOOKPROOF_PROFILE: "v" }, { profile: "f" })).toEqual({
      name: "f",
      origin: "--profile",
      isNamed: true,
    });
    expect(chosen({ HOOKPROOF_PROFILE: "v" })).toEqual({
      name: "v",
      origin: "HOOKPROOF_PROFILE",
      isNamed: true,
    });
    expect(chosen()).toEqual({ name: "of-user", origin: join(both.home, "config.json"), isNamed: true });
    const neither = folders({}, {});
    expect(neither.load().profile).toEqual({ name: "default", origin: "default", isNamed: false });
  });

  it("that was named has to be there, wherever it was named", () => {
    const both = bothOf();
    for (const config of [
      both.load({ HOOKPROOF_PROFILE: "v" }),
      both.load({}, {}, { profile: "v" }),
      both.load(),
    ])
      expect(() => config.requireKnownProfile()).toThrow(
        expect.objectContaining({ code: "PROFILE_UNKNOWN" }),
      );
    expect(() => folders({}, {}).load().requireKnownProfile()).not.toThrow();
  });
});

describe("secrets next to those of a listener that runs here", () => {
  const origin = "http://localhost:1";
  const local: FoundSecrets = {
    secrets: ["the listener's own secret, of some length"],
    credential: { kind: "session", port: 1 },
    binding: { kind: "origin", origin },
  };

  async function found(
    stored: { secrets: string[]; origin?: string } | undefined,
    env: Record<string, string> = {},
    own = true,
  ) {
    const { home, load } = folders({}, {});
    const io = ioOf({ HOOKPROOF_HOME: home, ...env });
    const config = load(env);
    const warned: string[] = [];
    if (stored) await storeSecrets(io, config.owner, { secrets: stored.secrets, origin: stored.origin });
    const args = { isGiven: () => false, text: () => undefined, texts: () => [] };
    const context = { args, io, config, out: { warn: (text: string) => void warned.push(text) } };
    return { found: await findSecrets(context as never, own ? local : undefined), warned };
  }

  it("are the listener's, unless the profile has some for the same target", async () => {
    expect((await found(undefined)).found).toBe(local);
    expect((await found({ secrets: ["another"], origin: "http://a.test" })).found).toBe(local);
    expect((await found({ secrets: ["another"] })).found).toBe(local);
    expect((await found(undefined, {}, false)).found).toBeUndefined();
    expect(
      (await found({ secrets: ["another"], origin: "http://a.test" }, {}, false)).found?.secrets,
    ).toEqual(["another"]);
  });

  it("are the profile's for the same target, and it is told where they are others", async () => {
    const others = await found({ secrets: ["a secret of the profile, of some length", "old"], origin });
    expect(others.found?.secrets[0]).toBe("a secret of the profile, of some length");
    expect(others.warned).toEqual([
      expect.stringMatching(
        /^The secret of the profile \(sha256:[0-9a-f]{8}…, sha256:[0-9a-f]{8}…\) signs; the listener that runs there has another one \(sha256:[0-9a-f]{8}…\)\.$/,
      ),
    ]);
    const same = await found({ secrets: ["new", ...local.secrets], origin });
    expect([same.found?.secrets[0], same.warned]).toEqual(["new", []]);
  });

  it("are those of the environment where they are not for another target", async () => {
    const secret = "a secret of the environment, of some length";
    expect((await found(undefined, { HOOKPROOF_SECRET: secret })).found).toMatchObject({
      binding: { kind: "environment" },
    });
    const bound = { HOOKPROOF_SECRET: secret, HOOKPROOF_SECRET_ORIGIN: "https://a.test" };
    expect((await found(undefined, bound)).found).toBe(local);
    expect((await found(undefined, bound, false)).found).toMatchObject({
      secrets: [secret],
      binding: { kind: "origin", origin: "https://a.test" },
    });
  });
});

it("a port is from 1 to 65535, and alone", () => {
  expect([":1", ":65535", ":04400"].map(checkedPort)).toEqual([":1", ":65535", ":04400"]);
  for (const wrong of [":0", ":65536", ":", "4400", "x:4400", ":4400/x", ":123456", ":-1"])
    expect(() => checkedPort(wrong), wrong).toThrow(/is not a port from 1 to 65535/);
});

const result = (id: string, given: Partial<ProbeResult> = {}): ProbeResult => ({
  ...{ id, title: `the ${id}`, section: "5.2", expected: [401], listenerChoice: "none", durationMs: 1 },
  ...{ outcome: "pass", status: 401 },
  ...given,
});

describe("what a run has proved", () => {
  const limited = (id: string) => result(id, { outcome: "unclear", status: 429 });

  it("is told where a rate limit has refused some of it", () => {
    expect(whyNothing([result("a"), limited("b"), result("c", { outcome: "skip" })])).toMatch(
      /^Not all was proved: 1 of 2 answers were 429\./,
    );
    expect(whyNothing([result("a"), result("b", { outcome: "unclear", status: 400 })])).toBeUndefined();
    expect(whyNothing([result("a"), result("b", { status: 429 })])).toBeUndefined();
  });

  it("is nothing without a pass or a failure, for a reason", () => {
    expect(whyNothing([])).toMatch(/no probe is left/);
    expect(whyNothing([result("a", { outcome: "skip" })])).toMatch(/every probe was skipped/);
    expect(whyNothing([result("a", { outcome: "skip", skipped: "would-trigger" })])).toMatch(
      /1 probe would run the automation/,
    );
    expect(whyNothing([result("a", { outcome: "unclear" })])).toMatch(/of 1 answer none is clear/);
    expect(whyNothing([limited("a"), result("b", { outcome: "unclear" })])).toMatch(
      /1 of 2 answers were 429/,
    );
    expect([whyNothing([], 0), whyNothing([], 1)]).toEqual([
      expect.stringMatching(/none of the answers/),
      undefined,
    ]);
  });

  it("is less before an interruption, unless a right proof got another answer than a wrong one", () => {
    const outcomes = (results: ProbeResult[], isInterrupted = true) =>
      weighed(results, undefined, isInterrupted).map(({ outcome }) => outcome);
    const told = (wrong: number) => [
      result("body-not-json", { status: 400, expected: [400] }),
      result("body-not-json-bad-proof", { status: wrong }),
    ];
    expect(outcomes([result("a"), result("b", { status: 302 })])).toEqual(["unclear", "pass"]);
    expect(outcomes([result("a")], false)).toEqual(["pass"]);
    expect(outcomes([result("a"), result("r", { status: 200, expected: [200] })])).toEqual(["pass", "pass"]);
    expect([outcomes(told(401)), outcomes(told(403)), outcomes(told(400))]).toEqual([
      ["pass", "pass"],
      ["pass", "pass"],
      ["unclear", "unclear"],
    ]);
  });
});

describe("a report", () => {
  const counts = { pass: 1, fail: 0, skip: 0, unclear: 0, wouldTrigger: 0, durationMs: 1, ok: true };

  it("as TAP says that it ended early where results are missing, and has no fact that is not there", () => {
    const write = (results: readonly ProbeResult[], planned: number, end: object = {}) => {
      const reporter = tap((_colour, text) => text);
      const run = { url: "http://a", method: "hmac", probes: Array.from({ length: planned }), strict: false };
      return [
        reporter.begin(run),
        ...results.map((one) => reporter.result(one)),
        reporter.end({ ...counts, ...end }),
      ].join("");
    };
    expect(write([result("a")], 1)).not.toContain("Bail out!");
    expect(write([result("a")], 2)).toContain("Bail out! The run ended early.\n");
    expect(write([result("a")], 2, { incomplete: "Interrupted." })).toContain("Bail out! Interrupted.\n");
    expect(write([result("b", { outcome: "fail", status: 200, fix: "do" })], 1)).toContain(
      'not ok 1 - b: the b\n  ---\n  deviation: "expected 401, saw 200"\n  section: "5.2"\n  fix: "do"\n  ...\n',
    );
  });

  it("for people has no line for what would run the automation: the end counts it", () => {
    const reporter = pretty((_colour, text) => text, true);
    reporter.result(result("a", { outcome: "skip", skipped: "would-trigger", reason: "it runs" }));
    expect(reporter.verdict(undefined)).toBe("");
  });
});
