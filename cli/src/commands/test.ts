import {
  type AuthenticationMethod,
  findListenerMistake,
  type ListenerVerdict,
  type Probe,
  type ProbeFilter,
  type ProbeResult,
  runProbes,
  selectProbes,
} from "hookproof/probes";
import type { Args, Command, Context } from "../command.js";
import { CONNECTION_FLAGS, SIGNING_FLAGS, TARGET_POSITIONAL } from "../credentials/flags.js";
import { resolveTarget } from "../credentials/target.js";
import { EXIT, usageError } from "../failure.js";
import { startProgress } from "../progress.js";
import { openReport } from "../reporters/open-report.js";
import { isFailure, type Run, type Summary } from "../reporters/reporter.js";
import { agentFor } from "../send/agent.js";

export const test: Command = {
  name: "test",
  details:
    "Probes that run the automation of a correct listener are skipped unless --allow-trigger is given. A listener that fails a probe may run it all the same. Where a run without --only fails, requests with one known mistake each follow, to find the listener's bug.",
  positionals: [TARGET_POSITIONAL],
  flags: {
    list: { type: "boolean", describe: "show the probes and send nothing" },
    only: { type: "string", value: "<glob>", repeatable: true, describe: "only the probes with these ids" },
    skip: { type: "string", value: "<glob>", repeatable: true, describe: "not the probes with these ids" },
    "allow-trigger": { type: "boolean", describe: "also send the probes that run the automation" },
    reporter: {
      type: "string",
      choices: ["pretty", "jsonl", "junit", "tap"],
      describe: "the report's format; pretty by default, jsonl with --json",
    },
    out: { type: "string", value: "<file>", describe: "write the report to a file" },
    strict: { type: "boolean", describe: "count unclear results as failures" },
    bail: { type: "boolean", describe: "end after the first failure" },
    concurrency: { type: "number", value: "<n>", default: 4, describe: "probes sent at the same time" },
    ...SIGNING_FLAGS,
    ...CONNECTION_FLAGS,
  },
  examples: [
    ["hookproof test :4400 --allow-trigger", "the local listener, with everything"],
    ["hookproof test :4400 --only 'timestamp-*' --reporter junit --out probes.xml", "some of them, for a CI"],
  ],
  exits: [
    [3, "secret or key missing"],
    [6, "no answer"],
    [7, "a probe failed"],
    [130, "interrupted"],
  ],
  async run(context) {
    const { args } = context;
    if (args.flag("list")) return listProbes(context);
    if (context.out.json && args.text("reporter") !== undefined && args.text("out") === undefined)
      throw usageError(
        "--json writes the reporter jsonl to stdout.",
        "Write another report to a file with --out <file>.",
      );
    return sendProbes(context);
  },
};

async function sendProbes(context: Context): Promise<number> {
  const { args, io, out, global } = context;
  const target = await resolveTarget(context);
  const strict = args.flag("strict");
  const selection = selectionOf(args);
  const run: Run = {
    url: target.url,
    method: target.method,
    probes: select({ method: target.method, ...selection }),
    strict,
  };
  const agent = await agentFor(target.url, { ca: args.text("ca"), insecure: args.flag("insecure") });
  const concurrency = args.number("concurrency") ?? 0;
  if (concurrency < 1) throw usageError("--concurrency must be at least 1.");

  const report = openReport(context);
  const progress = startProgress(io, global.quiet || global.json, run.probes.length);
  const seen: ProbeResult[] = [];
  const started = performance.now();
  let failed = false;
  let verdict: ListenerVerdict | undefined;
  try {
    const options = {
      allowTrigger: args.flag("allow-trigger"),
      concurrency,
      timeoutMs: global.timeoutMs,
      agent,
      signal: io.stopSignal,
    };
    const probed = { url: target.url, auth: target.auth };
    for await (const result of runProbes(probed, { ...selection, ...options })) {
      if (seen.length === 0) report.begin(run);
      seen.push(result);
      progress.finish(); // the bar must not be in a line of the report
      report.result(result);
      progress.advance();
      failed ||= isFailure(result, strict);
      if (failed && args.flag("bail")) break;
    }
    verdict = await findListenerMistake(probed, seen, options);
  } finally {
    progress.finish();
    if (seen.length > 0) report.verdict(verdict);
  }
  report.end(summaryOf(seen, !failed, Math.round(performance.now() - started)));
  if (report.file !== undefined) out.note(`The report is in ${report.file}.`);
  return failed ? EXIT.checkFailed : EXIT.ok;
}

function summaryOf(results: readonly ProbeResult[], ok: boolean, durationMs: number): Summary {
  const count = (outcome: ProbeResult["outcome"]) => results.filter((one) => one.outcome === outcome).length;
  return {
    pass: count("pass"),
    fail: count("fail"),
    unclear: count("unclear"),
    skip: count("skip"),
    wouldTrigger: results.filter(({ skipped }) => skipped === "would-trigger").length,
    durationMs,
    ok,
  };
}

function selectionOf(args: Args): ProbeFilter {
  const only = args.texts("only");
  return { only: only.length === 0 ? undefined : only, skip: args.texts("skip") };
}

function select(selection: Parameters<typeof selectProbes>[0]): Probe[] {
  try {
    return selectProbes(selection);
  } catch (error) {
    if (error instanceof RangeError)
      throw usageError(`--${error.message}.`, "hookproof test --list shows the ids.");
    throw error;
  }
}

function listProbes({ args, out }: Context): number {
  const method = args.text("method") as AuthenticationMethod | undefined;
  for (const probe of select({ method, ...selectionOf(args) })) {
    const { id, title, methods, expected, runsAutomation } = probe;
    out.document({ type: "probe-description", ...probe });
    const marks = `${expected.join("|")}  ${methods.join(",").padEnd(8)}  ${runsAutomation ? "runs" : "    "}`;
    out.line(`${id.padEnd(32)} ${marks}  ${title}`);
  }
  return EXIT.ok;
}
