// The entry `hookproof-service`: the local service with all that belongs to it.
export {
  type ExampleListener,
  type ExampleRoute,
  exampleListener,
  exampleRoutes,
} from "./api/example-routes.js";
export { FAULT_OPERATION_IDS, OPERATION_IDS, type OperationId } from "./api/operations.js";
export { DOCUMENT_NAMES } from "./api/wire-names.js";
export type { Role } from "./auth/principal.js";
export type { CelFunction, CelFunctions, CelOptions } from "./automations/cel-functions.js";
export type { CelTypeName } from "./automations/look-ups.js";
export type { Step, StepResult, StepStatus } from "./automations/run-steps.js";
export type { StepFailure, StepFailureCode } from "./automations/step-failure.js";
export type { Json, Templates } from "./automations/template.js";
export { createInspector, type Inspector, type InspectorOptions } from "./inspector/inspector.js";
export { type InspectorRouterOptions, inspectorRouter } from "./inspector/router.js";
export { type RunningInspector, startInspector } from "./inspector/start-inspector.js";
export type { OutboxAction } from "./outbox/contract.js";
export type { ShownOutbox } from "./outbox/outbox-view.js";
export { type OutboxRouterOptions, outboxRouter } from "./outbox/router.js";
export {
  type OutboxPageOptions,
  type RunningOutboxPage,
  startOutboxPage,
} from "./outbox/start-outbox-page.js";
export { InspectorError } from "./page/inspector-error.js";
export { createService, type Service, type TokenOptions } from "./server/app.js";
export type { Cors } from "./server/cors.js";
export { endToEndHeaders } from "./server/end-to-end-headers.js";
export type { Fault, FaultAnswer } from "./server/faults.js";
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
export type { ServiceLog } from "./server/log.js";
export type { RefusedByNode } from "./server/refused-by-node.js";
export type { ClockChange } from "./server/service-clock.js";
export type { ServiceOptions } from "./server/service-options.js";
export {
  type FindListener,
  type HandledRequest,
  type LocalListener,
  type SchemeListener,
  type WebhookRouter,
  webhookRouter,
} from "./server/webhook-router.js";
export {
  type ExportDatabaseOptions,
  exportDatabase,
  type ResetOptions,
  resetDatabase,
  type SeedOptions,
  seedDatabase,
} from "./state/database-state.js";
export { diffStates, type MemberChange, type StateChange, type StateRoom } from "./state/diff-states.js";
export type { ExportOptions } from "./state/export-state.js";
export type {
  Fixture,
  FixtureApp,
  FixtureAutomation,
  FixtureClient,
  FixtureSecret,
} from "./state/fixture.js";
export { FixtureError, type FixtureProblem } from "./state/fixture-error.js";
export { formatFixture } from "./state/format-fixture.js";
export { parseFixture, readFixture } from "./state/read-fixture.js";
export { DEFAULT_CLIENT, type SeedProgress } from "./state/state.js";
export { StateError } from "./state/state-error.js";
export type { Run, RunHead, RunStatus } from "./storage/runs.js";
export type { S3Options } from "./storage/s3-objects.js";
