// The command that plays the story of a webhook on this machine.
import type { Command, Context } from "../command.js";
import { CliError, EXIT } from "../failure.js";
import { stopped } from "../io.js";
import { countOf } from "../output.js";
import { INSPECTOR_FLAGS, type Inspecting, presentInspector, startInspecting } from "../serve/inspecting.js";
import { playDemo, type Step } from "../serve/play-demo.js";

export const demo: Command = {
  name: "demo",
  details: "Needs no configuration. In a terminal the listener stays open afterwards.",
  flags: {
    exit: { type: "boolean", describe: "end after the last step (always without a terminal)" },
    port: {
      type: "number",
      value: "<n>",
      default: 4400,
      range: [0, 65_535],
      describe: "the listener's port while the demo stays open",
    },
    ...INSPECTOR_FLAGS,
  },
  examples: [
    ["hookproof demo", "shows every step and keeps the listener open"],
    ["hookproof demo --exit --json", "the same for a script: one JSON line a step"],
  ],
  exits: [[7, "a step got another status than expected"]],
  async run(context) {
    const { io, out, args } = context;
    const stays = io.stdout.isTTY === true && !args.flag("exit") && !out.json;
    const page = stays ? await startInspecting(context) : undefined;
    try {
      return await play(context, stays, page);
    } finally {
      await page?.stop();
    }
  },
};

async function play(context: Context, stays: boolean, page: Inspecting | undefined): Promise<number> {
  const { io, out, args } = context;
  const given = new Set<string>();
  const port = stays ? (args.number("port") ?? 4400) : 0;
  const played = await playDemo(context, port, (step) => report(context, step, given), page?.inspector);
  try {
    if (played.failed > 0)
      throw new CliError(
        EXIT.checkFailed,
        "DEMO_FAILED",
        `${countOf(played.failed, "step")} got another status than expected.`,
      );
    if (!stays) return EXIT.ok;
    out.line();
    out.line(`The HMAC listener stays open on ${played.url}`);
    await presentInspector(context, page?.url);
    out.note(`next, in another terminal: hookproof send :${played.port} --data '{"a":1}'`);
    out.note("Ctrl-C ends the demo.");
    await stopped(io.stopSignal);
    return EXIT.ok;
  } finally {
    await played.stop();
  }
}

/** Shows a step, and its reason unless that was given for a step before it. */
function report({ out }: Context, step: Step, given: Set<string>): void {
  out.document({ type: "step", ...step });
  const mark = step.status === step.expected ? out.paint("green", "✔") : out.paint("red", "✖");
  out.line(`${mark} ${step.status}  ${step.name}`);
  if (step.reason && !given.has(step.reason)) out.line(`       ${out.paint("dim", step.reason)}`);
  if (step.reason) given.add(step.reason);
}
