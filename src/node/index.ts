export { guardedLookup, type Resolve } from "../http/guarded-lookup-node.js";
export { diagnosticsChannelObserver } from "./diagnostics-channel-observer.js";
export { type KeyStore, openKeyStore } from "./key-store.js";
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
