// The command that probes a listener and names its bug.
import { nodeTransport } from "hookproof/node";
import {
  type AuthenticationMethod,
  findListenerMistake,
  type ListenerVerdict,
  type Probe,
  type ProbeFilter,
  type ProbeResult,
  type RunProbesOptions,
  runProbes,
  runSchemeProbes,
  schemeProbes,
  schemeProbeTarget,
  schemeVerdict,
  selectProbes,
} from "hookproof/probes";
import type { Args, Command, Context } from "../command.js";
import { CONNECTION_FLAGS, REACH_FLAGS, SIGNING_FLAGS, TARGET_POSITIONAL } from "../credentials/flags.js";
import { resolveTarget, type Target } from "../credentials/target.js";
import { EXIT, usageError } from "../failure.js";
import { openReport } from "../reporters/open-report.js";
import { weighed, whyIncomplete, whyNothing } from "../reporters/proof.js";
import { isFailure, type Run, type Summary } from "../reporters/reporter.js";
import {
  configuredScheme,
  probesOf,
  SCHEME_EXAMPLES,
  SCHEME_FLAGS,
  schemeOf,
} from "../schemes/chosen-scheme.js";
import { agentFor } from "../send/agent.js";
import { plainHttpHosts, reachOf, requireOwnHeaders, withHeaders } from "../send/reach.js";
import { startProgress } from "../terminal/progress.js";

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
    record: {
      type: "string",
      value: "<file>",
      describe: "keep what the listener answers as a behaviour profile; it holds no secret",
      completes: "file",
    },
    expect: {
      type: "string",
      value: "<file>",
      describe: "fail if the listener answers otherwise than this behaviour profile, and only then",
      completes: "file",
    },
    strict: { type: "boolean", describe: "count unclear results as failures" },
    bail: { type: "boolean", describe: "end after the first failure" },
    concurrency: { type: "number", value: "<n>", default: 4, describe: "probes sent at the same time" },
    ...SCHEME_FLAGS,
    ...SIGNING_FLAGS,
    ...CONNECTION_FLAGS,
    ...REACH_FLAGS,
  },
  examples: [
    ["hookproof test :4400 --allow-trigger", "the local listener, with everything"],
    [
      "hookproof test https://tenant.example.com/api/v1/webhooks/incoming/lst_1 --record tenant.json",
      "keep how a listener behaves",
    ],
    ["hookproof test :4400 --only 'timestamp-*' --reporter junit --out probes.xml", "some of them, for a CI"],
    SCHEME_EXAMPLES.test,
  ],
  exits: [
    [3, "secret or key missing"],
    [6, "no answer"],
    [7, "a probe failed, or an answer differs from --expect"],
    [8, "not proved: no probe passed and none failed, or a rate limit refused some"],
    [130, "interrupted; the report has what was answered until then"],
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
  const reach = await reachOf(context, target);
  requireOwnHeaders(reach, target.url, target.signer);
  const suite = await suiteFor(target);
  const method = target.scheme?.settings.name ?? target.method;
  const run: Run = { url: target.url, method, probes: await suite.select(selection), strict };
  const agent = await agentFor(target.url, reach);
  const behaviour =
    args.isGiven("record") || args.isGiven("expect")
      ? await (await import("../reporters/behaviour.js")).behaviourOf(context, target)
      : undefined;
  const concurrency = args.number("concurrency") ?? 0;
  if (concurrency < 1) throw usageError("--concurrency must be at least 1.");

  const report = openReport(context);
  const progress = startProgress(context, run.probes.length);
  const seen: ProbeResult[] = [];
  const started = performance.now();
  let failed = false;
  let verdict: ListenerVerdict | undefined;
  let failure: { readonly error: unknown } | undefined;
  try {
    const options = {
      allowTrigger: args.flag("allow-trigger"),
      concurrency,
      timeoutMs: global.timeoutMs,
      ...(reach.headers.length === 0
        ? { agent }
        : { transport: withHeaders(nodeTransport({ agent }), reach) }),
      signal: io.stopSignal,
    };
    for await (const result of suite.send({ ...selection, ...options })) {
      seen.push(result);
      progress.advance();
      failed ||= isFailure(result, strict);
      if (failed && args.flag("bail")) break;
    }
    let [answered, planned] = [0, 0];
    verdict = await suite.verdictOn(seen, {
      ...options,
      onProgress(now, all) {
        progress.advance(now - answered);
        progress.extend(all - planned);
        [answered, planned] = [now, all];
      },
    });
  } catch (error) {
    failure = { error };
  } finally {
    progress.finish();
  }
  const isInterrupted = failure !== undefined && io.stopSignal.aborted;
  // Where nobody answers, the error says all to people; a program that reads the report looks for it there.
  const isUnanswered = seen.every(({ outcome }) => outcome === "skip");
  if (failure && isUnanswered && !isInterrupted && !report.isForPrograms) throw failure.error;
  // What a pass is worth is known only now.
  const results = weighed(seen, verdict, failure !== undefined);
  report.begin(run);
  for (const result of results) report.result(result);
  if (seen.length > 0) report.verdict(verdict);
  failed = results.some((result) => isFailure(result, strict));
  const compared = behaviour?.compared(seen);
  const incomplete =
    failure && whyIncomplete(isInterrupted ? undefined : failure.error, seen.length, run.probes.length);
  const isDecided = incomplete !== undefined || (failed && compared === undefined);
  const nothing = isDecided ? undefined : whyNothing(results, compared);
  const durationMs = Math.round(performance.now() - started);
  const ok = !failed && nothing === undefined && incomplete === undefined;
  report.end({ ...summaryOf(results, durationMs), nothing, incomplete, ok });
  if (report.file !== undefined) out.note(`The report is in ${report.file}.`);
  if (isInterrupted) return EXIT.interrupted;
  if (failure) throw failure.error;
  const drift = await behaviour?.finish(seen);
  if (nothing !== undefined) return EXIT.notProved;
  return drift ?? (failed ? EXIT.checkFailed : EXIT.ok);
}

/** The probes for a listener. */
interface Suite {
  select(selection: ProbeFilter): Promise<readonly unknown[]>;
  send(options: RunProbesOptions): AsyncIterable<ProbeResult>;
  verdictOn(
    seen: readonly ProbeResult[],
    options: Parameters<typeof findListenerMistake>[2],
  ): Promise<ListenerVerdict | undefined>;
}

async function suiteFor({ url, auth, method, scheme, config }: Target): Promise<Suite> {
  const opened = { plainHttpHosts: plainHttpHosts(config) };
  if (!scheme) {
    const probed = { url, auth, ...opened };
    return {
      select: async (selection) => select({ method, ...selection }),
      send: (options) => runProbes(probed, options),
      verdictOn: (seen, options) => findListenerMistake(probed, seen, options),
    };
  }
  const proof = auth.method === "hmac" ? { secrets: [auth.secret] } : { key: auth };
  const target = await schemeProbeTarget(scheme.probed(url, { ...scheme.settings, ...proof }));
  const probed = { ...target, ...opened };
  return {
    select: (selection) => fitting(() => schemeProbes(probed, selection)),
    send: (options) => runSchemeProbes(probed, options),
    verdictOn: async (seen) => schemeVerdict(seen),
  };
}

function summaryOf(results: readonly ProbeResult[], durationMs: number): Omit<Summary, "nothing" | "ok"> {
  const count = (outcome: ProbeResult["outcome"]) => results.filter((one) => one.outcome === outcome).length;
  return {
    pass: count("pass"),
    fail: count("fail"),
    unclear: count("unclear"),
    skip: count("skip"),
    wouldTrigger: results.filter(({ skipped }) => skipped === "would-trigger").length,
    durationMs,
  };
}

function selectionOf(args: Args): ProbeFilter {
  const only = args.texts("only");
  return { only: only.length === 0 ? undefined : only, skip: args.texts("skip") };
}

function select(selection: Parameters<typeof selectProbes>[0]): Promise<Probe[]> {
  return fitting(async () => selectProbes(selection));
}

/** What a selection finds; a pattern that fits no probe is a wrong command line. */
async function fitting<Found>(find: () => Promise<Found>): Promise<Found> {
  try {
    return await find();
  } catch (error) {
    if (error instanceof RangeError)
      throw usageError(`--${error.message}.`, "hookproof test --list shows the ids.");
    throw error;
  }
}

async function listProbes({ args, out, config }: Context): Promise<number> {
  const scheme = schemeOf(args, configuredScheme(config));
  const method = args.text("method") as AuthenticationMethod | undefined;
  const probes: readonly ListedProbe[] = scheme
    ? await fitting(() => probesOf(scheme.settings.name, selectionOf(args)))
    : await select({ method, ...selectionOf(args) });
  for (const probe of probes) {
    const { id, title, methods, expected, runsAutomation } = probe;
    out.document({ type: "probe-description", ...probe });
    const runs = runsAutomation ? "runs" : "    ";
    const marks = methods ? `${expected.join("|")}  ${methods.join(",").padEnd(8)}  ${runs}` : runs;
    const before = `${id.padEnd(32)} ${marks}  `;
    out.line(`${before}${title}`, before.length);
  }
  return EXIT.ok;
}

/** A probe of any scheme; those of other schemes have no methods, and judge only whether a request is refused. */
type ListedProbe = Omit<Probe, "methods"> & Partial<Pick<Probe, "methods">>;
