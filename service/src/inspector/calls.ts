// Keeps the newest calls of the API.
import { type CallDetail, type CallRow, LIMITS } from "./contract.js";

/** The newest calls of an API, in memory. */
interface Calls {
  /** Calls up to this number are not kept any more. */
  readonly droppedUpTo: number;
  /** Keeps a call under the next number. */
  add(call: Omit<CallDetail, "n">): CallDetail;
  get(n: number): CallDetail | undefined;
  /** Those that have a text anywhere, without case; newest first. */
  find(text: string): CallDetail[];
  clear(): void;
}

/** Keeps the newest 1,000 calls. */
export function createCalls(): Calls {
  let kept: CallDetail[] = [];
  let last = 0;
  return {
    get droppedUpTo() {
      return last - kept.length;
    },
    add(call) {
      last += 1;
      const numbered = { ...call, n: last };
      kept.push(numbered);
      if (kept.length > LIMITS.calls) kept.shift();
      return numbered;
    },
    get: (n) => kept[n - 1 - (last - kept.length)],
    find(text) {
      const needle = text.toLowerCase();
      return kept.filter((call) => textOf(call).toLowerCase().includes(needle)).reverse();
    },
    clear() {
      kept = [];
    },
  };
}

/** A call as the list shows it. */
export function callRow({ requestId, sourceAddress, headers, body, answer, ...row }: CallDetail): CallRow {
  const max = LIMITS.callTargetCharacters;
  return row.target.length > max ? { ...row, target: `${row.target.slice(0, max)}…` } : row;
}

function textOf({ method, target, status, operation, client, requestId, headers, body, answer }: CallDetail) {
  const lines = [...headers, ...answer.headers].map(([name, value]) => `${name}: ${value}`);
  const words = [`${method} ${target}`, status, operation, client, requestId, body, answer.body];
  return [...words, ...lines].join("\n");
}
