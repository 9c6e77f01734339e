export type { ContractCase } from "./contract-case.js";
export {
  createFakeReceiver,
  type FakeReceiver,
  type FakeReceiverOptions,
  type FakeRequest,
  type ScriptedAnswer,
} from "./fake-receiver.js";
export { type FixedClock, fixedClock } from "./fixed-clock.js";
export type { OutboxStoreSubject } from "./outbox-contract-subject.js";
export { outboxStoreContract } from "./outbox-store-contract.js";
export { type ReplayStoreSubject, replayStoreContract } from "./replay-store-contract.js";
export { type WaitForOptions, waitFor } from "./wait-for.js";
