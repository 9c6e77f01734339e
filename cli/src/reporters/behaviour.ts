// Compares a listener with a recorded profile of behaviour.
import {
  type AuthenticationMethod,
  type BehaviourDrift,
  behaveAs,
  behaviourDrift,
  type ProbeResult,
  readBehaviour,
  recordBehaviour,
} from "hookproof/probes";
import type { Context } from "../command.js";
import type { Target } from "../credentials/target.js";
import { EXIT, type ExitCode, usageError } from "../failure.js";
import { readTextFile } from "../files/files.js";
import { writeOwnFile } from "../files/written-file.js";
import { countOf } from "../output.js";

/** What --record and --expect do with the results of a run. */
interface Behaviour {
  /** How many answers --expect compares; `undefined` without it. */
  compared(results: readonly ProbeResult[]): number | undefined;
  /** Keeps and compares them. With --expect it gives the exit code: only what has changed counts then. */
  finish(results: readonly ProbeResult[]): Promise<ExitCode | undefined>;
}

/** The answers of a listener that behaves as the profile in a file. */
export async function answersAs(file: string): Promise<ReturnType<typeof behaveAs>> {
  return behaveAs(readBehaviour(await readTextFile(file)));
}

/** Reads the profile of --expect before anything is sent. */
export async function behaviourOf(context: Context, { method, scheme }: Target): Promise<Behaviour> {
  const { args } = context;
  if (scheme) throw usageError("--record and --expect are for the service's own scheme, not for --scheme.");
  const [record, expect] = [args.text("record"), args.text("expect")];
  const profile = expect === undefined ? undefined : readBehaviour(await readTextFile(expect));
  if (profile && profile.method !== method)
    throw usageError(`--expect is a profile of a ${profile.method} listener, and this one is ${method}.`);
  const compared = (results: readonly ProbeResult[]): number | undefined => {
    const answers = recordBehaviour(method, results).answers;
    return profile && Object.keys(profile.answers).filter((id) => Object.hasOwn(answers, id)).length;
  };
  return {
    compared,
    async finish(results) {
      if (record !== undefined) await writeOwnFile(record, profileText(method, results));
      if (!profile) return undefined;
      const [some = 0, all] = [compared(results), Object.keys(profile.answers).length];
      const extent = some === all ? "" : ` in ${some} of ${countOf(all, "answer")}`;
      return showDrift(behaviourDrift(profile, results), extent, context);
    },
  };
}

function profileText(method: AuthenticationMethod, results: readonly ProbeResult[]): string {
  return `${JSON.stringify(recordBehaviour(method, results), null, 2)}\n`;
}

/** Each probe that is answered otherwise than before; on stderr where a report for a program has stdout. */
function showDrift(drift: readonly BehaviourDrift[], extent: string, { args, out }: Context): ExitCode {
  const isReport = (args.text("reporter") ?? "pretty") !== "pretty" && args.text("out") === undefined;
  const say = (text: string) => (isReport ? out.note(text) : out.line(text));
  out.document({ type: "behaviour", ok: drift.length === 0, drift });
  for (const { message } of drift) say(message);
  say(
    drift.length === 0
      ? `The listener behaves as the profile says${extent}.`
      : `${countOf(new Set(drift.map(({ id }) => id)).size, "answer")} changed.`,
  );
  return drift.length === 0 ? EXIT.ok : EXIT.checkFailed;
}
