// All rules of an outbox store.
import type { ContractCase } from "../contract-case.js";
import { clockRules } from "./clock-rules.js";
import { controlRules } from "./control-rules.js";
import { deadLetterRules, upkeepRules } from "./dead-letter-rules.js";
import { enqueueRules } from "./enqueue-rules.js";
import { leaseRules, orderRules } from "./lease-rules.js";
import { failureRules, loadRules } from "./load-rules.js";
import { manyRules } from "./many-rules.js";
import type { OutboxStoreSubject } from "./subject.js";
import { workerRules } from "./worker-rules.js";

/**
 * The rules that every outbox store has to keep, one for each case. Each case needs a subject of its own.
 *
 * @example
 * ```ts
 * import test from "node:test";
 * import { memoryStore } from "hookproof/outbox";
 * import { fixedClock, outboxStoreContract } from "hookproof/testing";
 *
 * for (const { name, run } of outboxStoreContract) {
 *   test(name, async () => {
 *     const clock = fixedClock("2026-01-01T00:00:00Z");
 *     const store = memoryStore({ clock });
 *     await run({ open: () => store, passTime: (ms) => clock.advance(ms) });
 *   });
 * }
 * ```
 */
export const outboxStoreContract: readonly ContractCase<OutboxStoreSubject>[] = [
  ...enqueueRules,
  ...leaseRules,
  ...orderRules,
  ...deadLetterRules,
  ...upkeepRules,
  ...loadRules,
  ...failureRules,
  ...controlRules,
  ...manyRules,
  ...clockRules,
  ...workerRules,
];
