// What must hold of every parser for every input, and what is said where it does not.
import { inspect } from "node:util";
import { costOf, tooMuch } from "../kit/cost.js";
import { Broken, type Parser } from "./parser.js";

/** Characters that steer a terminal, but for line ends and tabs, which a text of several lines has. */
const STEERING = /(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;
/** The longest sentence of a refusal. */
const MAX_CHARACTERS = 5_000;
/** What takes longer is measured again, beside a known work, and with half of the input. */
const LONG_MS = 150;
/** A part of a secret that is long enough not to be there by chance. */
const PART = 10;

/** What is wrong with how a parser reads one input; `undefined` if nothing is. */
export async function faultOf(parser: Parser, input: Buffer): Promise<string | undefined> {
  const start = performance.now();
  let shown: readonly string[] = [];
  let whole = "";
  try {
    shown = (await parser.read(input)) ?? [];
    whole = shown.join("\n");
  } catch (error) {
    if (error instanceof Broken) return `does not keep: ${error.message}`;
    if (!parser.refuses(error)) return `throws ${inspect(error).slice(0, 600)}`;
    const { message, hint = "" } = error as Error & { hint?: string };
    shown = [message, hint];
    whole = inspect(error);
    if (message.length + hint.length > MAX_CHARACTERS)
      return `refuses in a sentence of ${message.length + hint.length} characters`;
  }
  const took = performance.now() - start;
  const steers = shown.find((text) => STEERING.test(parser.shownBy?.(text) ?? text));
  if (steers !== undefined) return `shows what steers a terminal: ${JSON.stringify(steers.slice(0, 200))}`;
  const part = partOf(parser.hidden ?? "", whole, input.toString());
  if (part !== undefined) return `shows a part of the secret: ${part}`;
  return took > LONG_MS ? growthOf(parser, input) : undefined;
}

/** A part of the secret in a text; one that the input has twice may be shown as what it stands for elsewhere. */
function partOf(secret: string, text: string, input: string): string | undefined {
  for (let at = 0; at + PART <= secret.length; at++) {
    const part = secret.slice(at, at + PART);
    if (text.includes(part) && input.split(part).length < 3) return part;
  }
  return undefined;
}

/** Says so if half of the input takes less than a third of the processor's time, whichever half it is. */
async function growthOf(parser: Parser, input: Buffer): Promise<string | undefined> {
  const reading = (bytes: Buffer) => async () => {
    try {
      await parser.read(bytes);
    } catch {
      // How it ends was looked at.
    }
  };
  const whole = await tooMuch(reading(input), LONG_MS);
  if (whole === undefined) return undefined;
  const part = (from: number, to: number) => input.subarray(input.length * from, input.length * to);
  // A text that is cut may be refused at its first sign, and cost nothing for that reason.
  const halves = [part(0, 0.5), part(0.5, 1), Buffer.concat([part(0, 0.25), part(0.75, 1)])];
  let half = 0;
  for (const one of halves) half = Math.max(half, await costOf(reading(one), 0));
  if (half * 3 > whole) return undefined;
  return `takes ${whole} ms for ${input.length} bytes, and ${half.toFixed(0)} ms for half of them`;
}
