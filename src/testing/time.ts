/** Options of `waitFor`. */
export interface WaitForOptions {
  /** How long to wait in all; 5,000 ms by default. */
  timeoutMs?: number | undefined;
  /** The pause between two looks; 10 ms by default. */
  intervalMs?: number | undefined;
}

/**
 * Looks again and again until a predicate gives something truthy, and resolves with that. A predicate that
 * throws counts as not yet.
 *
 * @throws {Error} when the time is over, with what the predicate threw last as its `cause`
 *
 * @example
 * ```ts
 * import { createFakeReceiver, waitFor } from "hookproof/testing";
 *
 * const receiver = createFakeReceiver([200]);
 * setTimeout(() => void receiver.handle(new Request("http://127.0.0.1/hook", { method: "POST" })), 20);
 * const [request] = await waitFor(() => receiver.requests.length > 0 && receiver.requests);
 * ```
 */
export async function waitFor<Value>(
  predicate: () => Value | Promise<Value>,
  { timeoutMs = 5_000, intervalMs = 10 }: WaitForOptions = {},
): Promise<Exclude<Value, false | 0 | "" | null | undefined>> {
  if (typeof predicate !== "function") throw new TypeError("predicate must be a function");
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const seen = await look(predicate);
    if (seen.value) return seen.value as Exclude<Value, false | 0 | "" | null | undefined>;
    if (performance.now() >= deadline)
      throw new Error(`waited ${timeoutMs} ms in vain`, "cause" in seen ? { cause: seen.cause } : {});
    await new Promise((resolve) => setTimeout(resolve, intervalMs));
  }
}

async function look<Value>(
  predicate: () => Value | Promise<Value>,
): Promise<{ value?: Value; cause?: unknown }> {
  try {
    return { value: await predicate() };
  } catch (cause) {
    return { cause };
  }
}
