// What a rule of a contract is, for any test runner.
/** One rule of a contract, for any test runner. */
export interface ContractCase<Subject> {
  /** The rule in words: a title for the test. */
  readonly name: string;
  /** Resolves if the subject keeps the rule, and rejects with what it did otherwise. */
  run(subject: Subject): Promise<void>;
}

/** Throws unless both are the same JSON; the message has both. */
export function expectSame(what: string, actual: unknown, expected: unknown): void {
  const [seen, wanted] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (seen !== wanted) throw new Error(`${what}: expected ${wanted}, got ${seen}`);
}
