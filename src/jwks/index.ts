export type { Algorithm } from "../jwt/key.js";
export type { KeyResolver, ResolvedKey } from "../jwt/key-resolver.js";
export type { KeySetHostOptions } from "./answer.js";
export { type CheckKeySetOptions, checkKeySet, type KeySetReport } from "./check-key-set.js";
export {
  type ExportedKeySet,
  type ExportKeySetOptions,
  exportKeySet,
  type StaticHost,
} from "./export-key-set.js";
export type { RemoteKeysOptions } from "./fetch-key-set.js";
export { fixedKeys } from "./fixed-keys.js";
export { generateKey, type KeyOptions, keyRecord } from "./generate.js";
export { type JwksHandlerOptions, jwksHandler } from "./handler.js";
export type { KeyLife, KeyRecord, KeyState, KeyTimes } from "./key-record.js";
export { createKeySet, type Jwks, type KeyRecordSource, type KeySet } from "./key-set.js";
export type { KeySetCheck, KeySetRule } from "./key-set-rules.js";
export type { KeySetUrlRules } from "./key-set-url.js";
export { type LifeStep, nextStepOf, type PlannedStep, stateAt } from "./life-cycle.js";
export { remoteKeys } from "./remote-keys.js";
export { planRotation, type RotationOptions, type RotationPlan, rotationPlan } from "./rotation.js";
export type { KeyRules } from "./verification-keys.js";
