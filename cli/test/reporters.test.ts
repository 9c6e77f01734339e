import { execFileSync } from "node:child_process";
import type { ListenerVerdict, ProbeResult } from "hookproof/probes";
import { describe, expect, it } from "vitest";
import { itWith } from "../../test/kit/needs.js";
import { hasTool } from "../../test/kit/outside-tool.js";
import { jsonl, junit, pretty, tap } from "../src/reporters/formats.js";
import type { CreateReporter } from "../src/reporters/reporter.js";

const hasPython = hasTool("python3", "--version");

const base = {
  section: "5.2",
  expected: [401],
  listenerChoice: "none",
  durationMs: 1500,
  means: '<means> & "more" ]]>',
  fix: "it's # that\\",
} as const;

/** One result of each outcome, with everything in its texts that XML and TAP give a meaning to. */
const RESULTS: readonly ProbeResult[] = [
  { ...base, id: "one", title: "a <b> & 'c' \"d\" ]]>", outcome: "pass", status: 401 },
  { ...base, id: "two", title: "\u0000\u001b[31m \ud800 \ufffe é", outcome: "fail", status: 200 },
  { ...base, id: "three", title: "a # SKIP b", outcome: "unclear", status: 400, reason: "left # open" },
  { ...base, id: "four", title: "four", outcome: "skip", skipped: "would-trigger", reason: "it <runs>" },
];

/** A verdict with the same, which explains the second result. */
const VERDICT: ListenerVerdict = {
  id: "signature-hex",
  sentence: 'It accepts <hex> & \u001b[31m: it\'s "wrong".',
  fix: "encode() # it",
  follows: ["two"],
  unproved: [],
  requests: 3,
};

function reportOf(
  create: CreateReporter,
  strict: boolean,
  verdict?: ListenerVerdict,
  verbose = false,
): string {
  const reporter = create((_colour, text) => text, verbose);
  const probes = RESULTS.map(({ id, title, section, expected, listenerChoice }) => ({
    ...{
      id,
      title,
      section,
      expected,
      listenerChoice,
      methods: ["hmac" as const],
      runsAutomation: false,
      means: "",
      fix: "",
    },
  }));
  const url = "http://127.0.0.1:1/?a=1&b=<2>";
  const counts = { pass: 1, fail: 1, skip: 1, unclear: 1, wouldTrigger: 1, durationMs: 6000, ok: false };
  return [
    reporter.begin({ url, method: "hmac", probes, strict }),
    ...RESULTS.map((result) => reporter.result(result)),
    reporter.verdict(verdict),
    reporter.end(counts),
  ].join("");
}

/** The report as Python's own XML parser reads it. */
const READ_XML = `
import json, sys, xml.etree.ElementTree as tree
suite = tree.fromstring(sys.stdin.buffer.read())[0]
cases = [{"name": c.get("name"), "time": c.get("time"), "inside": [[i.tag, i.get("message"), i.text] for i in c]} for c in suite]
print(json.dumps({"counts": [suite.get(n) for n in ("tests", "failures", "errors", "skipped")], "name": suite.get("name"), "cases": cases}))
`;

function readXml(report: string): unknown {
  return JSON.parse(execFileSync("python3", ["-c", READ_XML], { input: report, encoding: "utf8" }));
}

describe("the JUnit reporter", () => {
  itWith("python3", hasPython)("writes XML that another parser reads as it was meant", () => {
    expect(readXml(reportOf(junit, false))).toEqual({
      counts: ["4", "1", "0", "2"],
      name: "hookproof test http://127.0.0.1:1/?a=1&b=<2>",
      cases: [
        { name: "one: a <b> & 'c' \"d\" ]]>", time: "1.500", inside: [] },
        {
          name: "two: \ufffd\ufffd[31m \ufffd \ufffd é",
          time: "1.500",
          inside: [
            ["failure", "expected 401, saw 200", '<means> & "more" ]]>\nit\'s # that\\\nspecification 5.2'],
          ],
        },
        {
          name: "three: a # SKIP b",
          time: "1.500",
          inside: [["skipped", "unclear: expected 401, saw 400; left # open", null]],
        },
        { name: "four: four", time: "1.500", inside: [["skipped", "it <runs>", null]] },
      ],
    });
  });

  itWith("python3", hasPython)("counts what is unclear as a failure in a strict run", () => {
    expect(readXml(reportOf(junit, true))).toMatchObject({ counts: ["4", "2", "0", "1"] });
  });
});

describe("the TAP reporter", () => {
  it("escapes what starts a directive, and says why", () => {
    expect(
      reportOf(tap, false)
        .split("\n")
        .filter((line) => /^(?:not )?ok|^1\.\./.test(line)),
    ).toEqual([
      "1..4",
      "ok 1 - one: a <b> & 'c' \"d\" ]]>",
      expect.stringMatching(/^not ok 2 - two: /),
      "not ok 3 - three: a \\# SKIP b # TODO left \\# open",
      "ok 4 - four: four # SKIP it <runs>",
    ]);
  });

  it("has no TODO in a strict run", () => {
    expect(reportOf(tap, true)).not.toContain("# TODO");
  });
});

describe("the verdict in a report", () => {
  it("comes first for people, and what follows from it is left out", () => {
    const lines = reportOf(pretty, false, VERDICT).split("\n");
    expect(lines.slice(1, 5)).toEqual([
      '✖ It accepts <hex> & \\u001b[31m: it\'s "wrong".',
      "  fix     encode() # it",
      "  1 result below would only repeat it; -v shows it.",
      expect.stringMatching(/^✔ 401 {3}one/),
    ]);
    expect(lines.filter((line) => / two /.test(line))).toEqual([]);
    expect(reportOf(pretty, false, VERDICT, true)).toContain(" two ");
  });

  it("lists again at the end what it does not explain", () => {
    const lines = reportOf(pretty, false, { ...VERDICT, follows: [] }).split("\n");
    expect(lines.at(-3)).toBe("  1 failure that the verdict does not explain:");
    expect(lines.at(-2)).toMatch(/^ {2}✖ 200 {3}two /);
  });

  it("is a document for programs, a comment in TAP, a property in JUnit", () => {
    const documents = reportOf(jsonl, false, VERDICT)
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(documents.at(-2)).toEqual({ v: 1, type: "verdict", ...VERDICT });
    expect(reportOf(tap, false, VERDICT)).toMatch(/^# verdict: It accepts <hex>.*\n# fix: encode/m);
    expect(reportOf(junit, false, VERDICT)).toContain('<property name="fix" value="encode() # it"/>');
    for (const report of [pretty, tap, junit, jsonl])
      expect(reportOf(report, false, VERDICT)).not.toContain("\u001b");
  });
});
