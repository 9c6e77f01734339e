/**
 * Key sets: generate and publish keys of your own, fetch and check those of others.
 *
 * @packageDocumentation
 */

// Keys of one's own

export { generateKey, importKey, type KeyOptions, type KeyRecord } from "./key-set.js";

// The set, and ways to publish it

export { createKeySet, type Jwks, type KeyRecordSource, type KeySet } from "./key-set.js";

// … by a server of one's own, or as a file

export {
  type ExportedKeySet,
  exportKeySet,
  jwksHandler,
  type KeySetHostOptions,
  type StaticHost,
} from "./host.js";

// Key sets of others

export { checkKeySet, type KeySetReport } from "./check-key-set.js";
export type { KeySetCheck, KeySetRule } from "./key-checks.js";
export { remoteKeys } from "./remote-keys.js";
export { type KeyRules, localKeys } from "./verification-keys.js";

// What the names above are made of

export type { KeyResolver, ResolvedKey } from "../jwt/verify.js";
export type { KeyLife, KeyState, KeyTimes } from "./life-cycle.js";
export type { KeySetUrlRules, RemoteKeysOptions } from "./remote-keys.js";
