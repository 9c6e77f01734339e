export { OPERATION_IDS, type OperationId } from "./api/operations.js";
export { createService, type Service, type ServiceOptions, type TokenOptions } from "./app.js";
export type { Role } from "./auth/principal.js";
export type { Step, StepResult, StepStatus } from "./automations/run-steps.js";
export type { StepFailure, StepFailureCode } from "./automations/step-failure.js";
export type { Json, Templates } from "./automations/template.js";
export { endToEndHeaders } from "./end-to-end-headers.js";
export { type ExampleListener, type ExampleRoute, exampleListener, exampleRoutes } from "./example-routes.js";
export type { Fault } from "./faults.js";
export { type RunningServer, type ServerLimits, type ServerOptions, startServer } from "./http-server.js";
export { createInspector, type Inspector, type InspectorOptions } from "./inspector/inspector.js";
export { InspectorError } from "./inspector/inspector-error.js";
export { type InspectorRouterOptions, inspectorRouter } from "./inspector/router.js";
export { type RunningInspector, startInspector } from "./inspector/start-inspector.js";
export { KEY_SET_FAULTS, type KeySetFault } from "./key-set-faults.js";
export { type KeySetHostServerOptions, type RunningKeySetHost, startKeySetHost } from "./key-set-host.js";
export { type ListenersOptions, startListeners } from "./listener-server.js";
export type { ServiceLog } from "./log.js";
export type { S3Options } from "./objects/s3-objects.js";
export {
  type ResetOptions,
  resetDatabase,
  type SeedOptions,
  StateError,
  seedDatabase,
} from "./state/database-state.js";
export type {
  Fixture,
  FixtureApp,
  FixtureAutomation,
  FixtureClient,
  FixtureSecret,
} from "./state/fixture.js";
export { FixtureError, type FixtureProblem, parseFixture, readFixture } from "./state/read-fixture.js";
export { DEFAULT_CLIENT } from "./state/state.js";
export type { Run, RunHead, RunStatus } from "./storage/runs.js";
export {
  type FindListener,
  type HandledRequest,
  type ListenerSetup,
  webhookRouter,
} from "./webhook-router.js";
