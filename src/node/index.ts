export { type KeyStore, openKeyStore } from "./key-store.js";
export { toNodeHandler } from "./to-node-handler.js";
export { receivedRequest, sendAnswer, toNodeListener } from "./to-node-listener.js";
