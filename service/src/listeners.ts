// The entry for listeners, inspector and key set hosts, which starts without the API.
/** Listeners, the inspector and hosts of key sets without the service's API: what starts in a moment. */
export { createInspector, type Inspector, type InspectorOptions } from "./inspector/inspector.js";
export { type RunningInspector, startInspector } from "./inspector/start-inspector.js";
export {
  type OutboxPageOptions,
  type RunningOutboxPage,
  startOutboxPage,
} from "./outbox/start-outbox-page.js";
export { InspectorError } from "./page/inspector-error.js";
export { endToEndHeaders } from "./server/end-to-end-headers.js";
export {
  type RunningServer,
  type ServerLimits,
  type ServerOptions,
  startServer,
} from "./server/http-server.js";
export { KEY_SET_FAULTS, type KeySetFault } from "./server/key-set-faults.js";
export {
  type KeySetHostServerOptions,
  type RunningKeySetHost,
  startKeySetHost,
} from "./server/key-set-host.js";
export { type ListenersOptions, startListeners } from "./server/listener-server.js";
export type { FindListener, HandledRequest, LocalListener, SchemeListener } from "./server/webhook-router.js";
