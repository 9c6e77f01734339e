// The command that checks this machine and a target without sending an event.

import type { Command, Context } from "../command.js";
import { knownProfiles } from "../config/config.js";
import { CONNECTION_FLAGS, REACH_FLAGS, TARGET_POSITIONAL } from "../credentials/flags.js";
import { placeOf } from "../credentials/target.js";
import { shownUrl } from "../credentials/typed-target.js";
import { checkMachine, type Finding } from "../explain/check-machine.js";
import { checkTarget } from "../explain/check-target.js";
import { CliError, EXIT, usageError } from "../failure.js";
import { checkedScheme } from "../schemes/chosen-scheme.js";
import { reachOf, requireOwnHeaders, unsignedBy } from "../send/reach.js";

export const doctor: Command = {
  name: "doctor",
  details: "With a target it checks its connection, certificate and clock too. Sends no event.",
  positionals: [{ ...TARGET_POSITIONAL, describe: "any http or https URL, :4400, or a profile" }],
  flags: { ...CONNECTION_FLAGS, ...REACH_FLAGS },
  examples: [
    ["hookproof doctor", "this machine, and the profile's target if it has one"],
    ["hookproof doctor https://tenant.example.com", "the connection to a listener, and its clock"],
  ],
  exits: [
    [3, "a configuration file cannot be used"],
    [7, "a check failed"],
  ],
  async run(context) {
    const { io, out } = context;
    const findings = [
      ...(await checkMachine(io)),
      ...schemeFindings(context),
      ...(await targetFindings(context)),
    ];
    const failed = findings.filter(({ state }) => state === "fail").length;
    out.document({ type: "doctor", ok: failed === 0, checks: findings });
    for (const finding of findings) print(context, finding);
    if (context.args.text("target") === undefined && context.config.text("target") === undefined)
      out.note("hookproof doctor <url>      checks a listener and its clock");
    return failed === 0 ? EXIT.ok : EXIT.checkFailed;
  },
};

/** Whether the profile has all that its scheme needs. */
function schemeFindings(context: Context): Finding[] {
  const { args, config } = context;
  const named = args.text("target");
  const isProfile = named !== undefined && knownProfiles(config.files).includes(named);
  const checked = checkedScheme(args, isProfile ? config.withProfile(named) : config);
  if (checked === undefined) return [];
  const { title, problem } = checked;
  if (problem === undefined) return [{ id: "scheme", state: "ok", message: title }];
  const hint = problem.hint === undefined ? {} : { hint: problem.hint };
  return [{ id: "scheme", state: "fail", message: problem.message, ...hint }];
}

async function targetFindings(context: Context): Promise<Finding[]> {
  const { args, io, global, config } = context;
  if (args.text("target") === undefined && config.text("target") === undefined) return [];
  let place: ReturnType<typeof placeOf>;
  try {
    place = placeOf(context);
  } catch (error) {
    if (!(error instanceof CliError) || error.code !== "SESSION_MISSING") throw error;
    return [
      { id: "target", state: "warn", message: error.message, ...(error.hint ? { hint: error.hint } : {}) },
    ];
  }
  const { url } = place;
  if (!/^https?:/.test(url) || !URL.canParse(url))
    throw usageError(`${shownUrl(url)} is not an http or https URL.`);
  const reach = await reachOf({ args, io }, place);
  requireOwnHeaders(reach, url, unsignedBy([]));
  if (reach.headers.length > 0) {
    const { requireTls } = await import("../credentials/checked-url.js");
    await requireTls(url, "The target", reach.plainHttpHosts);
  }
  return checkTarget(url, { timeoutMs: global.timeoutMs, ...reach });
}

function print({ out }: Context, { id, state, message, hint }: Finding): void {
  const mark = { ok: out.paint("green", "✔"), warn: out.paint("yellow", "!"), fail: out.paint("red", "✖") }[
    state
  ];
  out.line(`${mark} ${id.padEnd(8)} ${message}`);
  if (hint) out.line(`  ${"".padEnd(8)} ${hint}`);
}
