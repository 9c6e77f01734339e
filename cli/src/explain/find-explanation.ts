import { changes, describeCode, describeStatus, errorCodes, mistakes } from "hookproof/diagnose";
import { COMMAND_LINE, EXITS, type Explanation } from "./command-line.js";
import { EXAMPLES } from "./examples.js";

/** What `diagnose` and `compare` can find. */
const NAMED = [...mistakes, ...changes];

/** What is known of an error code, a mistake of the catalogue, an exit code or an HTTP status. */
interface Explained {
  readonly kind: "code" | "mistake" | "exit" | "status";
  readonly name: string;
  readonly explanation: Explanation;
  /** What an error code says in one sentence, or the title of a mistake. */
  readonly message?: string;
  /** The HTTP status that a listener answers with. */
  readonly status?: number;
  /** The codes that a listener answers with an HTTP status. */
  readonly codes?: readonly string[];
  /** What leads to an error code. */
  readonly example?: string;
}

/** Finds a mistake by its id, an exit code, an HTTP status, or an error code in any case. */
export function findExplanation(given: string): Explained | undefined {
  // A mistake comes before a code of the same name in another case: body-not-json and BODY_NOT_JSON.
  return (
    findMistake(given) ??
    findExit(given) ??
    findStatus(given) ??
    findCode(given.toUpperCase().replaceAll("-", "_"))
  );
}

function findCode(code: string): Explained | undefined {
  const examples: Readonly<Record<string, string>> = EXAMPLES;
  const found = { kind: "code", name: code, example: examples[code] ?? "" } as const;
  const described = describeCode(code);
  if (described) {
    const { cause, fix, message, status } = described;
    return { ...found, explanation: [cause, fix], message, ...(status === undefined ? {} : { status }) };
  }
  const own: Readonly<Record<string, Explanation>> = COMMAND_LINE;
  const explanation = Object.hasOwn(own, code) ? own[code] : undefined;
  return explanation && { ...found, explanation };
}

function findExit(given: string): Explained | undefined {
  const exit = /^(?:exit-?)?([0-9]{1,3})$/.exec(given)?.[1];
  const explanation = exit === undefined ? undefined : EXITS[Number(exit)];
  return exit === undefined || !explanation ? undefined : { kind: "exit", name: exit, explanation };
}

function findStatus(given: string): Explained | undefined {
  const described = /^[1-5][0-9]{2}$/.test(given) ? describeStatus(Number(given)) : undefined;
  if (described === undefined) return undefined;
  const { status, message, causes, fix, codes } = described;
  const cause = causes.length > 0 ? `Likely: ${causes.join("; ")}.` : message;
  return { kind: "status", name: given, status, message, explanation: [cause, fix], codes };
}

function findMistake(given: string): Explained | undefined {
  const found = NAMED.find(({ id }) => id === given);
  if (!found) return undefined;
  const { id, title, message, fix } = found;
  return { kind: "mistake", name: id, explanation: [message, fix], message: title };
}

/** Every error code, mistake and exit code. */
export function explainableNames(): string[] {
  return [...errorCodes(), ...Object.keys(COMMAND_LINE), ...NAMED.map(({ id }) => id), ...Object.keys(EXITS)];
}
