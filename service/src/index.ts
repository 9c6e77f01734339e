export { type RunningServer, type ServerLimits, type ServerOptions, startServer } from "./http-server.js";
export { KEY_SET_FAULTS, type KeySetFault } from "./key-set-faults.js";
export { type KeySetHostServerOptions, type RunningKeySetHost, startKeySetHost } from "./key-set-host.js";
export { type ListenersOptions, startListeners } from "./listener-server.js";
export { type HandledRequest, type ListenerSetup, webhookRouter } from "./webhook-router.js";
