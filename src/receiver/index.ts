/**
 * The receiving side: every check of the specification in its order, replays refused, a handler for web servers.
 *
 * @packageDocumentation
 */

export type { ListenerOptions } from "../schemes/default-verifier.js";
export {
  createReceiver,
  type ReceivedRequest,
  type Receiver,
  type ReceiverAnswer,
  type ReceiverOptions,
  type SchemeReceiverOptions,
} from "./receiver.js";
export type { ReceivedEvent, Rejection, Verdict } from "./verdict.js";

// Event ids that were processed; stores in databases are in hookproof/replay

export { type MemoryReplayStoreOptions, memoryReplayStore } from "../replay/memory-replay-store.js";

export type { ReplayStore, Reservation, ReserveResult } from "../replay/replay-store.js";

// AWS Lambda

export {
  type LambdaHttpRequest,
  type LambdaProxyRequest,
  type LambdaRequest,
  type LambdaResponse,
  lambdaHandler,
} from "./lambda-handler.js";

// What the names above are made of

export type { Check } from "../core/check.js";
export type { VerdictCode } from "../core/errors.js";
export type { Run } from "./accept.js";
export { CHECKS, type CheckRule } from "./all-checks.js";
export type { BodyInput } from "./verify-request.js";
