export type { VerdictCode } from "../errors.js";
export type { KeyResolver, ResolvedKey } from "../jwt/key-resolver.js";
export type { Check, CheckStep } from "../protocol/check.js";
export type { Run } from "./accept.js";
export { type LambdaRequest, type LambdaResponse, lambdaHandler } from "./lambda-handler.js";
export type { Listener } from "./listener.js";
export { type MemoryReplayStoreOptions, memoryReplayStore } from "./memory-replay-store.js";
export type { BodyInput } from "./read-body.js";
export {
  createReceiver,
  type ReceivedRequest,
  type Receiver,
  type ReceiverAnswer,
  type ReceiverOptions,
} from "./receiver.js";
export type { ReplayStore, Reservation, ReserveResult } from "./replay-store.js";
export type { ReceivedEvent, Rejection, Verdict } from "./verdict.js";
