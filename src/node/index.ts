export { guardedLookup, type Resolve } from "../http/guarded-lookup-node.js";
export { diagnosticsChannelObserver } from "./diagnostics-channel-observer.js";
export { toJwksListener } from "./jwks-listener.js";
export type { KeyMaterial } from "./key-material.js";
export { type KeyStatus, type KeyStore, type KeyStoreOptions, openKeyStore } from "./key-store.js";
export {
  type OtelContext,
  type OtelMeter,
  type OtelSpan,
  type OtelTracer,
  otelObserver,
} from "./otel-observer.js";
export { toNodeHandler } from "./to-node-handler.js";
export { receivedRequest, sendAnswer, toNodeListener } from "./to-node-listener.js";
export { type UndiciDispatcher, undiciTransport } from "./undici-transport.js";
