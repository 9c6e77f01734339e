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
  duplicate: 9,
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** A failure with everything a person or a script needs: a stable code, words, what to do, the exit code. */
export class CliError extends Error {
  override readonly name = "CliError";
  readonly exit: ExitCode;
  readonly code: string;
  readonly hint: string | undefined;
  /** What is known of the command's own answer all the same. */
  readonly answer: Readonly<Record<string, unknown>>;

  constructor(
    exit: ExitCode,
    code: string,
    message: string,
    { hint, answer = {} }: { hint?: string | undefined; answer?: Record<string, unknown> } = {},
  ) {
    super(message);
    this.exit = exit;
    this.code = code;
    this.hint = hint;
    this.answer = answer;
  }
}

/** A wrong command line. */
export function usageError(message: string, hint?: string): CliError {
  return new CliError(EXIT.usage, "USAGE", message, { hint });
}
