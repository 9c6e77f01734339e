import { CAUSES, COMMAND_LINE, EXITS } from "./command-line.js";
import { EXAMPLES } from "./examples.js";
import type { Explanation } from "./explanation.js";
import { LIBRARY } from "./library-codes.js";

/** What is known of a code, a cause or an exit code. */
export interface Explained {
  readonly kind: "code" | "cause" | "exit";
  readonly name: string;
  readonly explanation: Explanation;
  /** What leads to a code. */
  readonly example?: string;
}

/** Finds a code in any case, a cause by its family, or an exit code. */
export function findExplanation(given: string): Explained | undefined {
  const code = given.toUpperCase().replaceAll("-", "_");
  const codes: Readonly<Record<string, Explanation>> = { ...LIBRARY, ...COMMAND_LINE };
  if (Object.hasOwn(codes, code) && codes[code]) {
    const examples: Readonly<Record<string, string>> = EXAMPLES;
    return { kind: "code", name: code, explanation: codes[code], example: examples[code] ?? "" };
  }
  const exit = /^(?:exit-?)?([0-9]{1,3})$/.exec(given)?.[1];
  if (exit !== undefined && EXITS[Number(exit)])
    return { kind: "exit", name: exit, explanation: EXITS[Number(exit)] as Explanation };
  const family = Object.keys(CAUSES).find((name) => given === name || given.startsWith(`${name}-`));
  return family === undefined
    ? undefined
    : { kind: "cause", name: family, explanation: CAUSES[family] as Explanation };
}

/** Every code, family of causes and exit code. */
export function explainableNames(): string[] {
  return [
    ...Object.keys(LIBRARY),
    ...Object.keys(COMMAND_LINE),
    ...Object.keys(CAUSES),
    ...Object.keys(EXITS),
  ];
}
