// Runs the calls of one turn of the event loop as one statement.
import { setImmediate } from "node:timers";

/** How many calls share a statement at most: one of many thousands would be late, and all of them with it. */
const MAX_CALLS = 500;

interface Waiting<Call, Answer> {
  readonly call: Call;
  readonly key: string;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * Runs the calls of one turn of the event loop together, as few statements of a database. Calls with the same key never
 * share a statement, as a statement cannot write a row twice.
 *
 * @param keyOf what it throws, the call alone rejects with
 * @param run answers calls in their order; what it rejects with, each of them rejects with
 */
export function together<Call, Answer>(
  keyOf: (call: Call) => string,
  run: (calls: readonly Call[]) => Promise<readonly Answer[]>,
): (call: Call) => Promise<Answer> {
  let waiting: Waiting<Call, Answer>[] = [];

  function runAll(): void {
    const statements = statementsOf(waiting);
    waiting = [];
    for (const statement of statements)
      run(statement.map(({ call }) => call)).then(
        (answers) => statement.forEach(({ resolve }, index) => void resolve(answers[index] as Answer)),
        (error) => statement.forEach(({ reject }) => void reject(error)),
      );
  }

  return (call) =>
    new Promise((resolve, reject) => {
      const key = keyOf(call);
      if (waiting.push({ call, key, resolve, reject }) === 1) setImmediate(runAll);
    });
}

/** Each in the first statement that has room and none with its key. */
function statementsOf<One extends { readonly key: string }>(waiting: readonly One[]): One[][] {
  const statements: One[][] = [];
  const firstWithout = new Map<string, number>();
  let firstWithRoom = 0;
  for (const one of waiting) {
    const at = Math.max(firstWithRoom, firstWithout.get(one.key) ?? 0);
    firstWithout.set(one.key, at + 1);
    const statement = statements[at];
    if (statement) statement.push(one);
    else statements.push([one]);
    while (statements[firstWithRoom]?.length === MAX_CALLS) firstWithRoom++;
  }
  return statements;
}
