// Questions to a person, stored secrets, folders of others, texts of the command line and reports, each by itself.
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough, Readable, Writable } from "node:stream";
import type { ListenerVerdict, ProbeResult } from "hookproof/probes";
import { describe, expect, it } from "vitest";
import { itWith } from "../../test/kit/needs.js";
import { temporaryFolder } from "../../test/kit/temporary-folder.js";
import { editConfig } from "../src/config/config-file.js";
import { requireInside } from "../src/config/folder-file.js";
import { storedSecrets, storeSecrets } from "../src/credentials/stored-secrets.js";
import { isOfFile, reasonOf } from "../src/files/files.js";
import { requireReadable } from "../src/input/given-text.js";
import type { Io } from "../src/io.js";
import { pretty } from "../src/reporters/formats.js";
import { whyIncomplete } from "../src/reporters/proof.js";
import { ask, canAsk } from "../src/terminal/ask.js";

function ioOf(given: Partial<Io> = {}): Io {
  const sink = () => new Writable({ write: (_chunk, _encoding, done) => done() });
  return {
    ...{ stdin: Readable.from([]), stdout: sink(), stderr: sink(), env: {} },
    stopSignal: new AbortController().signal,
    ...given,
  };
}

describe("a question to a person", () => {
  const asker = (typed: string) => {
    const shown: string[] = [];
    const stdin = Object.assign(new PassThrough(), { isTTY: true });
    const stderr = Object.assign(
      new Writable({
        write(chunk, _encoding, done) {
          shown.push(String(chunk));
          done();
        },
      }),
      { isTTY: true },
    );
    stdin.write(typed);
    return { io: ioOf({ stdin, stderr }), global: { input: true, json: false } as never, shown };
  };

  it("has an answer, or its fallback for an empty one", async () => {
    const typed = asker(" staging \r");
    expect(await ask(typed, "Which profile?", "default")).toBe("staging");
    expect(typed.shown.join("")).toContain("Which profile? [default] ");
    expect(await ask(asker("\r"), "Which profile?", "default")).toBe("default");
    expect(await ask(asker("  \r"), "Which profile?", "default")).toBe("default");
  });

  it("can be asked on a terminal alone, and not where no input is wanted, or JSON", () => {
    const { io } = asker("");
    const of = (given: object, changed: Partial<Io> = {}) =>
      canAsk({ io: { ...io, ...changed }, global: { input: true, json: false, ...given } as never });
    expect([of({}), of({ input: false }), of({ json: true })]).toEqual([true, false, false]);
    expect([of({}, { stdin: Readable.from([]) }), of({}, { stderr: ioOf().stderr })]).toEqual([false, false]);
  });
});

const NO_FLAGS = { isGiven: () => false, text: () => undefined } as never;

describe("a stored secret", () => {
  const home = () => {
    const folder = temporaryFolder("stored-secret");
    chmodSync(folder, 0o700);
    return folder;
  };
  const io = (folder: string) => ioOf({ env: { HOOKPROOF_HOME: folder } });
  const owner = { profile: "p" };
  const read = (folder: string) => storedSecrets(io(folder), NO_FLAGS, owner);

  it("comes back as it was stored, with the origin it is for", async () => {
    const folder = home();
    expect(read(folder)).toBeUndefined();
    await storeSecrets(io(folder), owner, { secrets: ["new", "old"], origin: "https://a.test" });
    expect(read(folder)).toEqual({ secrets: ["new", "old"], origin: "https://a.test" });
    await storeSecrets(io(folder), owner, { secrets: ["one"], origin: undefined });
    expect(read(folder)).toEqual({ secrets: ["one"], origin: undefined });
    expect(storedSecrets(ioOf(), NO_FLAGS, owner)).toBeUndefined();
  });

  it.each([
    ...[
      "",
      "{",
      "null",
      "[]",
      '{"v":2,"secrets":["a"]}',
      '{"v":1}',
      '{"v":1,"secrets":[]}',
      '{"v":1,"secrets":"a"}',
    ],
    ...['{"v":1,"secrets":[""]}', '{"v":1,"secrets":["a",1]}', '{"v":1,"secrets":[1,"a"]}'],
    ...['{"v":1,"secrets":["a"],"origin":1}', '{"v":1,"secrets":{"length":1}}'],
  ])("%s is none, and the way to write it again is told", async (text) => {
    const folder = home();
    await storeSecrets(io(folder), owner, { secrets: ["a"], origin: undefined });
    writeFileSync(join(folder, "secrets", "p.json"), text);
    expect(() => read(folder)).toThrow(
      expect.objectContaining({
        code: "SECRET_STORE_INVALID",
        hint: expect.stringContaining("hookproof secret set --profile p"),
      }),
    );
  });

  it("that others may read is refused, and one that cannot be read", async () => {
    const folder = home();
    await storeSecrets(io(folder), owner, { secrets: ["a"], origin: undefined });
    chmodSync(join(folder, "secrets", "p.json"), 0o644);
    expect(() => read(folder)).toThrow();
    const other = home();
    mkdirSync(join(other, "secrets", "p.json"), { recursive: true, mode: 0o700 });
    expect(() => read(other)).toThrow("The secret of profile p cannot be read.");
  });
});

describe("what a folder's own configuration names", () => {
  const project = "/home/a/project/hookproof.json";
  const check = (text: string, given: object = {}) =>
    requireInside(
      {
        ...{
          projectPath: project,
          isProjectNamed: false,
          find: () => ({ file: project }),
          texts: () => [text],
        },
        ...given,
      } as never,
      "store",
      { code: "SECRET_FILE_OUTSIDE", what: "key store", flag: "--store" },
    );

  it("is inside of it, and no address", () => {
    expect(() => check("/home/a/project/keys")).not.toThrow();
    for (const outside of ["/etc/keys", "/home/a/project-2/keys", "/home/a/project/../keys"])
      expect(() => check(outside)).toThrow(
        expect.objectContaining({
          code: "SECRET_FILE_OUTSIDE",
          message: expect.stringContaining("outside of its folder"),
          hint: expect.stringContaining("--store"),
        }),
      );
  });

  it("is free where the user named that file, or another one has the setting", () => {
    expect(() => check("/etc/keys", { isProjectNamed: true })).not.toThrow();
    expect(() => check("/etc/keys", { find: () => ({ file: "/home/a/.config/h.json" }) })).not.toThrow();
  });
});

it("a configuration is edited in the folder where that has one, else for the user, and told where there is no home", () => {
  const folder = temporaryFolder("edited");
  const [projectPath, userPath] = [join(folder, "hookproof.json"), join(folder, "user.json")];
  const edited = (user: boolean, given: object = {}) =>
    editConfig({ projectPath, isProjectNamed: false, userPath, ...given }, user).path;
  expect([edited(false), edited(true), edited(false, { isProjectNamed: true })]).toEqual([
    ...[userPath, userPath, projectPath],
  ]);
  expect(() => edited(false, { userPath: undefined })).toThrow(
    expect.objectContaining({ code: "HOME_MISSING" }),
  );
  writeFileSync(projectPath, '{"profiles":{"p":{}}}');
  expect([edited(false), edited(true)]).toEqual([projectPath, userPath]);
});

// Elsewhere nobody shows the bytes themselves.
itWith("Linux", process.platform === "linux")(
  "a text that the process was started with is taken, and one that came from bytes is not",
  () => {
    const path = process.env.PATH ?? "";
    expect(() => requireReadable(path, "PATH")).not.toThrow();
    // The end of a word alone is another text, and so is more than it.
    for (const other of [path.slice(1), `${path}x`, "no \uFFFD of this process"])
      expect(() => requireReadable(other, "--data")).toThrow(
        expect.objectContaining({
          code: "TEXT_ENCODING",
          message: expect.stringContaining("--data has bytes that are not UTF-8"),
        }),
      );
  },
);

it("what the system says of a file is told from other failures", () => {
  expect(["ENOENT", "ENOSPC", "ERR_FS_EISDIR", "ECONNRESET", undefined].map(isOfFile)).toEqual([
    ...[true, true, true, false, false],
  ]);
  expect(reasonOf({ code: "ENOENT" })).toBe("there is no such file or folder");
  expect(reasonOf({ code: "EX" })).toBe("EX");
  expect(reasonOf(new Error("so"))).toBe("so");
  expect(reasonOf(undefined)).toBe("unknown");
});

it("a run that is not whole says how far it came, and what ended it", () => {
  expect(whyIncomplete(undefined, 3, 107)).toBe(
    "Interrupted after 3 of 107 probes: the verdict is not complete.",
  );
  expect(whyIncomplete(new Error("It broke"), 107, 107)).toBe(
    "Ended by an error while looking for the listener's mistake: the verdict is not complete. It broke.",
  );
  expect(whyIncomplete("text", 0, 1)).toBe(
    "Ended by an error after 0 of 1 probe: the verdict is not complete.",
  );
});

describe("a report on a terminal", () => {
  const result = (id: string, given: Partial<ProbeResult>): ProbeResult => ({
    ...{ id, title: `the ${id}`, section: "5.2", expected: [401], listenerChoice: "none", durationMs: 1 },
    ...{ outcome: "pass", status: 401 },
    ...given,
  });
  const counts = { pass: 1, fail: 0, skip: 0, unclear: 0, wouldTrigger: 0, durationMs: 1, ok: true };
  const verdict: ListenerVerdict = {
    ...{ id: "x", sentence: "It is wrong.", fix: "Correct it.", follows: [], unproved: [], requests: 0 },
  };

  function report(
    results: readonly ProbeResult[],
    {
      verbose = false,
      isTerminal = true,
      ...given
    }: { verbose?: boolean; isTerminal?: boolean; verdict?: ListenerVerdict; end?: object } = {},
  ): string[] {
    const reporter = pretty((_colour, text) => text, verbose, isTerminal);
    const said = [
      reporter.begin({ url: "http://a", method: "hmac", probes: results, strict: false }),
      ...results.map((one) => reporter.result(one)),
      reporter.verdict(given.verdict),
      reporter.end({ ...counts, ...given.end }),
    ].join("");
    return said.trimEnd().split("\n");
  }

  it("has a number for what passed, and a line where it does not scroll by or more is wanted", () => {
    const passed = [result("one", {})];
    expect(report(passed)).toEqual(["1 probe (hmac) to http://a", "✔ 1 pass, 0 fail, 0 unclear, 0 skipped"]);
    expect(report(passed, { isTerminal: false })[1]).toMatch(/^✔ 401 +one +the one$/);
    expect(report(passed, { verbose: true })[1]).toMatch(/^✔ 401 +one +the one$/);
  });

  it("says what to do of a failure, and nothing of an answer that proves nothing", () => {
    const failed = result("two", { outcome: "fail", status: 200, means: "so", fix: "do" });
    const worthless = result("three", { outcome: "unclear", reason: "limited" });
    const lines = report([failed, worthless, result("one", {})]);
    expect(lines.slice(1, 5)).toEqual([
      expect.stringMatching(/^✖ 200 +two/),
      "        fail    expected 401, saw 200 (specification 5.2)",
      "        means   so",
      "        fix     do",
    ]);
    expect(lines.join("\n")).not.toContain("three");
    expect(report([failed, worthless], { verbose: true }).join("\n")).toContain(
      "unclear expected 401, saw 401; limited",
    );
  });

  it("is folded where nothing passed or failed, and says how many more there are", () => {
    const skipped = result("one", { outcome: "skip", reason: "cannot", skipped: "cannot-send" as never });
    const end = { pass: 0, skip: 1, ok: false };
    expect(report([skipped], { end })).toEqual([
      "1 probe (hmac) to http://a",
      "✖ 0 pass, 0 fail, 0 unclear, 1 skipped; -v shows each",
    ]);
    expect(report([skipped], { end: { ...end, wouldTrigger: 1 } }).at(-1)).toContain(
      "--allow-trigger sends them too",
    );
    expect(report([skipped], { end, verbose: true })[2]).toBe("        skip    cannot");
    const limited = report(
      [result("a", { outcome: "unclear", reason: "429" }), result("b", { outcome: "unclear" })],
      {
        end: { ...end, unclear: 2, incomplete: "Not all was proved." },
      },
    );
    expect(limited.slice(-2)).toEqual([
      "  Not all was proved.",
      "  2 answers with no proof: 429; -v shows each.",
    ]);
  });

  it("ends with the verdict, what it explains, and what it does not", () => {
    const results = ["a", "b", "c"].map((id) =>
      result(id, { outcome: "fail", status: 200, means: "m", fix: "f" }),
    );
    const lines = report(results, {
      verdict: { ...verdict, follows: ["a", "b"], unproved: [] },
      end: { pass: 0, fail: 3, ok: false },
    });
    expect(lines.filter((one) => / [abc] /.test(one))).toHaveLength(2);
    expect(lines.slice(-4)).toEqual([
      expect.stringMatching(/^ +✖ 200 +c/),
      "✖ It is wrong.",
      "  fix     Correct it.",
      "  2 more results would only repeat it; -v shows them.",
    ]);
    const file = report(results, { isTerminal: false, verdict: { ...verdict, follows: ["a"] } });
    expect(file.slice(1, 4)).toEqual([
      "✖ It is wrong.",
      "  fix     Correct it.",
      "  1 result below would only repeat it; -v shows it.",
    ]);
    const unproved = report([result("a", {}), result("b", {})], {
      verdict: { ...verdict, unproved: ["a", "b"] },
    });
    expect(unproved.at(-1)).toBe(
      "  2 refusals of wrong requests prove nothing, as correct ones are answered alike.",
    );
    const one = report([result("a", { status: 200 })], { verdict: { ...verdict, unproved: ["a"] } });
    expect(one.at(-1)).toBe(
      "  1 acceptance of a correct request proves nothing, as wrong ones are answered alike.",
    );
  });
});
