// Exit codes, and failures with a code, a message and a hint.
/** The exit codes of every command (see `hookproof --help` and docs/cli.md). */
export const EXIT = {
  ok: 0,
  unexpected: 1,
  usage: 2,
  setup: 3,
  refused: 4,
  unavailable: 5,
  unreachable: 6,
  checkFailed: 7,
  notProved: 8,
  duplicate: 9,
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** The most characters of a message: it may quote a text of somebody else's, of any length. */
const MAX_CHARACTERS = 4_000;

/** A failure for people and scripts: a stable code, a message, a hint what to do, the exit code. */
export class CliError extends Error {
  override readonly name = "CliError";
  readonly exit: ExitCode;
  readonly code: string;
  readonly hint: string | undefined;
  /** The command to go on with. */
  readonly next: string | undefined;
  /** Members of the command's JSON answer that are known in spite of the failure. */
  readonly answer: Readonly<Record<string, unknown>>;
  /** The beginning of the listener's answer, without credentials. */
  readonly listenerAnswer: string | undefined;

  constructor(
    exit: ExitCode,
    code: string,
    message: string,
    {
      hint,
      next,
      answer = {},
      listenerAnswer,
    }: {
      hint?: string | undefined;
      next?: string | undefined;
      answer?: Readonly<Record<string, unknown>>;
      listenerAnswer?: string | undefined;
    } = {},
  ) {
    super(message.length > MAX_CHARACTERS ? `${message.slice(0, MAX_CHARACTERS)}…` : message);
    this.exit = exit;
    this.code = code;
    this.hint = hint;
    this.next = next;
    this.answer = answer;
    this.listenerAnswer = listenerAnswer;
  }
}

/** A wrong command line. */
export function usageError(message: string, hint?: string): CliError {
  return new CliError(EXIT.usage, "USAGE", message, { hint });
}

/** Refuses flags that would do nothing, so that nobody relies on them: `why` goes on after the flag's name. */
export function refuseIdle(
  args: { isGiven(name: string): boolean },
  flags: readonly string[],
  why: string,
  hint?: string,
): void {
  const idle = flags.find((name) => args.isGiven(name));
  if (idle !== undefined) throw usageError(`--${idle} ${why}`, hint);
}

/** No known word is nearly as long; a longer text would cost the product of both lengths for each of them. */
const LONGEST_WORD = 100;

/** The known word that a mistyped one is closest to, if it is close at all. */
export function closest(given: string, known: Iterable<string>): string | undefined {
  let best: { word: string; distance: number } | undefined;
  // One letter or digit is close to every other.
  if (given.length < 2 || given.length > LONGEST_WORD) return undefined;
  for (const word of known) {
    const distance = editDistance(given.toLowerCase(), word.toLowerCase());
    if (distance <= Math.max(1, Math.floor(word.length / 3)) && (!best || distance < best.distance))
      best = { word, distance };
  }
  return best?.word;
}

/** A hint for a mistyped word. */
export function didYouMean(given: string, known: Iterable<string>, prefix = ""): string | undefined {
  const word = closest(given, known);
  return word === undefined ? undefined : `Did you mean ${prefix}${word}?`;
}

/** Insertions, deletions, substitutions and swaps of neighbours between two words. */
function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const substitution = (last[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1);
      let cost = Math.min((last[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1, substitution);
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1])
        cost = Math.min(cost, (before[column - 2] ?? 0) + 1);
      current.push(cost);
    }
    before = last;
    last = current;
  }
  return last[b.length] ?? 0;
}
