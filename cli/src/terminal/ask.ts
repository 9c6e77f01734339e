// Asks a person on a terminal, in the open or hidden, and refuses where nobody can answer.
import type { Context } from "../command.js";
import { CliError, EXIT, usageError } from "../failure.js";
import { inertLine } from "../output.js";

type Asker = Pick<Context, "io" | "global">;

/** Whether a person can answer: stdin and stderr are a terminal, and neither --no-input nor --json is given. */
export function canAsk({ io, global }: Asker): boolean {
  return global.input && !global.json && io.stdin.isTTY === true && io.stderr.isTTY === true;
}

/** Asks on stderr; an empty answer is the fallback. */
export async function ask(asker: Asker, question: string, fallback: string): Promise<string> {
  const answer = await answerTo(asker, `${question} [${fallback}] `, false);
  return answer.trim() || fallback;
}

/** Asks for something that must not be seen. */
export function askHidden(asker: Asker, question: string): Promise<string> {
  return answerTo(asker, `${question} `, true);
}

/** Continues only with `--yes`, or after a person agreed. */
export async function confirm(
  asker: Asker & Pick<Context, "args">,
  question: string,
  consequence: string,
): Promise<void> {
  if (asker.args.flag("yes")) return;
  if (!canAsk(asker)) throw usageError(consequence, "Add --yes if that is what you want.");
  if (!/^y(?:es)?$/i.test(await ask(asker, `${question} (y/n)`, "n")))
    throw new CliError(EXIT.interrupted, "ABORTED", "Nothing was done.");
}

async function answerTo({ io }: Asker, question: string, hidden: boolean): Promise<string> {
  const [{ createInterface }, { Writable }] = await Promise.all([
    import("node:readline"),
    import("node:stream"),
  ]);
  const { stdin: input, stderr } = io;
  // readline echoes the typed text to its output; a secret must not be shown, so that output is discarded.
  const output = hidden ? new Writable({ write: (_chunk, _encoding, done) => done() }) : stderr;
  // From here on the terminal does not echo by itself, so the question comes after this.
  const lines = createInterface({ input, output, terminal: true });
  if (hidden) stderr.write(inertLine(question));
  return new Promise((resolve, reject) => {
    const interrupted = () =>
      reject(new CliError(EXIT.interrupted, "ABORTED", "Interrupted; nothing was done."));
    lines.once("SIGINT", () => lines.close());
    // A signal that no key has sent.
    const stop = () => lines.close();
    io.stopSignal.addEventListener("abort", stop, { once: true });
    lines.once("close", () => io.stopSignal.removeEventListener("abort", stop));
    lines.once("close", interrupted);
    if (io.stopSignal.aborted) return stop(); // it came while readline was loaded
    lines.question(hidden ? "" : inertLine(question), (answer) => {
      if (hidden) stderr.write("\n");
      resolve(answer);
      lines.close();
    });
  });
}
