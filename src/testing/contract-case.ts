/** One rule of a contract, for any test runner: it passes when `run` resolves. */
export interface ContractCase<Subject> {
  readonly name: string;
  run(subject: Subject): Promise<void>;
}

/** Rejects with what was expected and what came instead, both as JSON. */
export function expectSame(what: string, actual: unknown, expected: unknown): void {
  const [seen, wanted] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (seen !== wanted) throw new Error(`${what}: expected ${wanted}, got ${seen}`);
}
