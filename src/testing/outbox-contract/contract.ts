import type { ContractCase } from "./contract-case.js";
import type { OutboxStoreSubject } from "./outbox-contract-subject.js";
import { deadLetterRules } from "./outbox-dead-letter-rules.js";
import { enqueueRules } from "./outbox-enqueue-rules.js";
import { failureRules } from "./outbox-failure-rules.js";
import { leaseRules } from "./outbox-lease-rules.js";
import { loadRules } from "./outbox-load-rules.js";
import { orderRules } from "./outbox-order-rules.js";
import { upkeepRules } from "./outbox-upkeep-rules.js";

/**
 * What every outbox store must do, one rule a case. Give each case a subject of its own.
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
];
