// The options of the service, and what becomes of wrong ones.
import type { Clock } from "hookproof";
import type { OtelTracer } from "hookproof/otel";
import type { BehaviourProfile } from "hookproof/probes";
import { FAULT_OPERATION_IDS, type OperationId } from "../api/operations.js";
import type { AttemptLimits } from "../auth/failed-attempts.js";
import { checkCelOptions } from "../automations/cel-functions.js";
import { type AutomationOptions, checkAutomationOptions } from "../automations/engine.js";
import type { Inspector } from "../inspector/inspector.js";
import type { StateOptions } from "../state/open-state.js";
import type { Cors } from "./cors.js";
import type { Fault } from "./faults.js";
import type { ServerOptions } from "./http-server.js";
import type { LogLevel, ServiceLog } from "./log.js";
import { checkOptions, KINDS, type OptionKind } from "./options.js";

/** Options of `createService`. */
export interface ServiceOptions extends ServerOptions, AutomationOptions, StateOptions {
  /** The address clients use, if it is not the server's own. */
  baseUrl?: string | undefined;
  /** The Super Admin client there always is; a random secret by default, and then a new one at each start. */
  client?: { id: string; secret: string } | undefined;
  clock?: Clock | undefined;
  /** The token of the remote control under `/local/v1`; a random one by default, and then a new one at each start. */
  controlToken?: string | undefined;
  /** How long every operation takes at least, in milliseconds. */
  latencyMs?: number | undefined;
  /** What goes wrong from the start, by operation. */
  faults?: Partial<Record<OperationId, Fault>> | undefined;
  /** How the webhook listeners answer where they have a choice: a profile that `hookproof test --record` keeps. */
  behaviour?: BehaviourProfile | undefined;
  /** Holds every answer against the OpenAPI document, and fails with 500 where it does not fit. */
  validateAnswers?: boolean | undefined;
  /** Seconds an access token lives, from 1 to 86,400; 3,600 by default. */
  tokenLifetimeSeconds?: number | undefined;
  /** How often a client may show a wrong secret; `{ failures: Infinity }` for as often as it likes. */
  attemptLimits?: AttemptLimits | undefined;
  /** Where requests are logged, or how much on standard error; nothing by default. */
  log?: ServiceLog | LogLevel | undefined;
  /** A tracer of OpenTelemetry, for a span of each request. */
  tracer?: OtelTracer | undefined;
  /**
   * Names that a client has where the document has neutral ones, by those: `{ svcLocal: "acmeLocal" }`. They are in
   * answers, and taken in requests.
   */
  wireNames?: Readonly<Record<string, string>> | undefined;
  /**
   * What becomes of a request with a field or a query name that the document does not have: `refuse`, the default, is
   * 400 with the nearest name; `ignore` is for a client that sends more.
   */
  unknownFields?: "refuse" | "ignore" | undefined;
  /** Lets pages of other origins call the service: `true` for every page, or the origins. None by default. */
  cors?: Cors | undefined;
  /** Records what the webhook listeners receive, and the calls of the API; `startInspector` shows them. */
  inspector?: Inspector | undefined;
}

const { text, flag, url, port, ms, number, callback, members, clock, texts, anything } = KINDS;

const OPTIONS = {
  allowInsecure: flag,
  attemptLimits: members,
  baseUrl: url,
  celFunctions: members,
  celNamespace: ["a text", (value) => typeof value === "string"],
  behaviour: [
    "what readBehaviour(...) gives",
    (value) => members[1](value) && members[1]((value as BehaviourProfile).answers),
  ],
  client: members,
  clock,
  controlToken: text,
  cors: ["true, or a list of origins", (value) => value === true || isTextList(value)],
  db: text,
  faults: members,
  fixture: members,
  host: text,
  inspector: [
    "createInspector(...)",
    (value) => members[1](value) && typeof (value as Inspector).watchCalls === "function",
  ],
  latencyMs: number,
  limits: members,
  log: [
    'a logger, or "silent", "error", "warn" or "info"',
    (value) => isLogger(value) || ["silent", "error", "warn", "info"].includes(String(value)),
  ],
  onProgress: callback,
  onRefused: callback,
  onRun: callback,
  port,
  s3: members,
  seed: number,
  tls: members,
  tokenLifetimeSeconds: number,
  tracer: [
    "a tracer of OpenTelemetry",
    (value) => members[1](value) && typeof (value as OtelTracer).startSpan === "function",
  ],
  trustedProxies: texts,
  unknownFields: ['"refuse" or "ignore"', (value) => value === "refuse" || value === "ignore"],
  users: number,
  wireNames: members,
  validateAnswers: flag,
} as const satisfies Record<keyof ServiceOptions, OptionKind>;

/** Which of them are origins is looked at later. */
function isTextList(value: unknown): boolean {
  return Array.isArray(value) && value.every((one) => typeof one === "string");
}

function isLogger(value: unknown): boolean {
  return members[1](value) && typeof (value as ServiceLog).info === "function";
}

/** @throws {TypeError} for an option, or an operation with a fault, that there is not, and for a value of another kind */
export function checkServiceOptions(options: ServiceOptions): void {
  checkOptions("createService", options, OPTIONS);
  const { attemptLimits = {}, limits = {}, faults = {}, client = {}, tls = {}, s3 = {} } = options;
  const operations = FAULT_OPERATION_IDS.map((id) => [id, anything] as const);
  checkOptions("attemptLimits", attemptLimits, { failures, windowMs: ms }, "attemptLimits.");
  checkOptions("limits", limits, LIMITS, "limits.");
  checkOptions("client", client, { id: anyText, secret: anyText }, "client.");
  checkOptions("tls", tls, { cert: anything, key: anything }, "tls.");
  checkOptions("faults", faults, Object.fromEntries(operations), "faults.");
  checkOptions("s3", s3, S3, "s3.");
  checkCelOptions(options);
  checkAutomationOptions(options);
  const missing = Object.keys(S3).find((name) => name !== "region" && !Object.hasOwn(s3, name));
  if (options.s3 !== undefined && missing !== undefined) throw new TypeError(`s3.${missing} is missing`);
}

/** Whether it is empty is looked at later, in words of its own. */
const anyText: OptionKind = ["a text", (value) => typeof value === "string"];
/** None at all would be read as no limit by one and as no attempt by another. */
const failures: OptionKind = [
  "a whole number from 1 on, or Infinity",
  (value) => value === Number.POSITIVE_INFINITY || (Number.isSafeInteger(value) && (value as number) > 0),
];
const LIMITS = { headersMs: ms, requestMs: ms, keepAliveMs: ms, checkEveryMs: ms };
const S3 = { endpoint: url, bucket: text, region: text, accessKeyId: text, secretAccessKey: text };
