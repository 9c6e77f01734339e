export type { ContractCase } from "./contract-case.js";
export { type FixedClock, fixedClock } from "./fixed-clock.js";
export { type ReplayStoreSubject, replayStoreContract } from "./replay-store-contract.js";
