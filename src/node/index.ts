/**
 * What needs Node: receivers and key sets behind `node:http` and Express, keys on disk, other transports.
 *
 * @packageDocumentation
 */

// Servers

export { toNodeListener } from "../receiver/node/to-node-listener.js";

// … and the parts of it

export { receivedRequest, sendAnswer } from "../receiver/node/to-node-listener.js";

// Key sets, and keys on disk

export { toJwksListener } from "../jwks/node/jwks-listener.js";

export { type KeyStatus, type KeyStore, type KeyStoreOptions, openKeyStore } from "../key-store/key-store.js";
export { readSigningKey } from "../key-store/material.js";

// … brought to a static host

export {
  type KeySetPublication,
  type PublishKeySetOptions,
  publishKeySet,
} from "../key-store/publish-key-set.js";
export { commandUpload, fileUpload } from "../key-store/uploads.js";

// Connections

export { guardedLookup } from "../http/node/guarded-lookup.js";
export { nodeTransport } from "../http/node/transport.js";
export { type UndiciDispatcher, undiciTransport } from "../http/node/undici-transport.js";

// What an answer repeats of a request, for logs

export { withoutValues } from "../core/hidden-values.js";

// SQLite, and observers

export { diagnosticsChannelObserver } from "../observe/node/diagnostics-channel-observer.js";
export { type OpenSqliteOptions, openSqlite, type SqliteDriver } from "../sqlite/database.js";

// What the names above are made of

export type { KeyMaterial } from "../key-store/material.js";
export type { KeyPublication } from "../key-store/publication.js";
export type { KeySetUpload } from "../key-store/uploads.js";
export type { OpenSqliteDatabase, SqliteDatabase, SqliteStatement, SqliteValue } from "../sqlite/database.js";
