export { type RunningServer, type ServerLimits, type ServerOptions, startServer } from "./http-server.js";
export { type ListenersOptions, startListeners } from "./listener-server.js";
export { type HandledRequest, type ListenerSetup, webhookRouter } from "./webhook-router.js";
