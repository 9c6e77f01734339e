export { toJwksListener } from "./jwks-listener.js";
export type { KeyMaterial } from "./key-material.js";
export { type KeyStatus, type KeyStore, type KeyStoreOptions, openKeyStore } from "./key-store.js";
export { toNodeHandler } from "./to-node-handler.js";
export { receivedRequest, sendAnswer, toNodeListener } from "./to-node-listener.js";
