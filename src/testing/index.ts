/**
 * For tests: a receiver with scripted answers, a clock that stands still, the contracts of stores.
 *
 * @packageDocumentation
 */

export {
  createFakeReceiver,
  type FakeReceiver,
  type FakeReceiverOptions,
  type FakeRequest,
  type ScriptedAnswer,
} from "./fake-receiver.js";
export { type FixedClock, fixedClock, type WaitForOptions, waitFor } from "./time.js";

// For authors of stores

export { outboxStoreContract } from "./outbox-contract/contract.js";
export type { OutboxStoreSubject } from "./outbox-contract/subject.js";
export { type ReplayStoreSubject, replayStoreContract } from "./replay-store-contract.js";

// For authors of schemes

export { type SchemeSubject, schemeContract } from "./scheme-contract.js";
