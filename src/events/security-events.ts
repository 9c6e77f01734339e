// The event types of CAEP, RISC and SCIM, and events of them.

import { HookproofError } from "../core/errors.js";
import { isObject } from "../core/json.js";

const CAEP_BASE = "https://schemas.openid.net/secevent/caep/event-type/";

/**
 * The event types of the OpenID Continuous Access Evaluation Profile (CAEP) 1.0, section 3, by their URIs.
 *
 * @example
 * ```ts
 * import { CAEP } from "hookproof/set";
 *
 * CAEP.sessionRevoked; // "https://schemas.openid.net/secevent/caep/event-type/session-revoked"
 * ```
 */
export const CAEP = {
  sessionRevoked: `${CAEP_BASE}session-revoked`,
  tokenClaimsChange: `${CAEP_BASE}token-claims-change`,
  credentialChange: `${CAEP_BASE}credential-change`,
  assuranceLevelChange: `${CAEP_BASE}assurance-level-change`,
  deviceComplianceChange: `${CAEP_BASE}device-compliance-change`,
  sessionEstablished: `${CAEP_BASE}session-established`,
  sessionPresented: `${CAEP_BASE}session-presented`,
  riskLevelChange: `${CAEP_BASE}risk-level-change`,
} as const;

const RISC_BASE = "https://schemas.openid.net/secevent/risc/event-type/";

/**
 * The event types of the OpenID RISC Profile 1.0, section 2, by their URIs.
 *
 * @example
 * ```ts
 * import { RISC, securityEvent } from "hookproof/set";
 *
 * const event = securityEvent(
 *   RISC.accountDisabled,
 *   { reason: "hijacking" },
 *   { sub_id: { format: "email", email: "user@example.com" } },
 * );
 * ```
 */
export const RISC = {
  accountCredentialChangeRequired: `${RISC_BASE}account-credential-change-required`,
  accountPurged: `${RISC_BASE}account-purged`,
  accountDisabled: `${RISC_BASE}account-disabled`,
  accountEnabled: `${RISC_BASE}account-enabled`,
  identifierChanged: `${RISC_BASE}identifier-changed`,
  identifierRecycled: `${RISC_BASE}identifier-recycled`,
  credentialCompromise: `${RISC_BASE}credential-compromise`,
  optIn: `${RISC_BASE}opt-in`,
  optOutInitiated: `${RISC_BASE}opt-out-initiated`,
  optOutCancelled: `${RISC_BASE}opt-out-cancelled`,
  optOutEffective: `${RISC_BASE}opt-out-effective`,
  recoveryActivated: `${RISC_BASE}recovery-activated`,
  recoveryInformationChanged: `${RISC_BASE}recovery-information-changed`,
} as const;

const SCIM_BASE = "urn:ietf:params:scim:event:";

/**
 * The event types of the SCIM Profile for Security Event Tokens (RFC 9967), by their URIs. Their subject is
 * `sub_id: { format: "scim", uri: "/Users/…" }`.
 *
 * @example
 * ```ts
 * import { SCIM, securityEvent } from "hookproof/set";
 *
 * const event = securityEvent(
 *   SCIM.createNotice,
 *   { attributes: ["userName", "emails"] },
 *   { sub_id: { format: "scim", uri: "/Users/44f6142df96bd6ab61e7521d9" } },
 * );
 * ```
 */
export const SCIM = {
  feedAdd: `${SCIM_BASE}feed:add`,
  feedRemove: `${SCIM_BASE}feed:remove`,
  createNotice: `${SCIM_BASE}prov:create:notice`,
  createFull: `${SCIM_BASE}prov:create:full`,
  patchNotice: `${SCIM_BASE}prov:patch:notice`,
  patchFull: `${SCIM_BASE}prov:patch:full`,
  putNotice: `${SCIM_BASE}prov:put:notice`,
  putFull: `${SCIM_BASE}prov:put:full`,
  delete: `${SCIM_BASE}prov:delete`,
  activate: `${SCIM_BASE}prov:activate`,
  deactivate: `${SCIM_BASE}prov:deactivate`,
  asyncResponse: `${SCIM_BASE}misc:asyncresp`,
} as const;

const SSF_BASE = "https://schemas.openid.net/secevent/ssf/event-type/";

/**
 * The events of the OpenID Shared Signals Framework 1.0 that are about a stream: by `verification` (section 8.1.4) a
 * transmitter shows that it works, by `streamUpdated` (section 8.1.5) that its status is another one now. Their subject
 * is the stream: `{ format: "opaque", id: "<stream id>" }`.
 *
 * @example
 * ```ts
 * import { securityEvent, SSF } from "hookproof/set";
 *
 * const event = securityEvent(
 *   SSF.streamUpdated,
 *   { status: "paused", reason: "The licence is over." },
 *   { sub_id: { format: "opaque", id: "stream-1" } },
 * );
 * ```
 */
export const SSF = {
  verification: `${SSF_BASE}verification`,
  streamUpdated: `${SSF_BASE}stream-updated`,
} as const;

/** What the events of known types say, by their URIs. */
export interface SecurityEventPayloads {
  /** The session of the subject is revoked. Every event of CAEP may say what this one does (section 2). */
  readonly [CAEP.sessionRevoked]: {
    /** When it happened, in Unix seconds. */
    readonly event_timestamp?: number;
    /** Who or what caused it. */
    readonly initiating_entity?: "admin" | "user" | "policy" | "system";
    /** A text for logs, by BCP 47 language tag: `{ en: "..." }`. */
    readonly reason_admin?: Readonly<Record<string, string>>;
    /** A text for the user, by BCP 47 language tag. */
    readonly reason_user?: Readonly<Record<string, string>>;
  };
  /** Claims of a token have other values now. */
  readonly [CAEP.tokenClaimsChange]: SecurityEventPayloads[typeof CAEP.sessionRevoked] & {
    /** The claims that changed, with their new values. */
    readonly claims: Readonly<Record<string, unknown>>;
  };
  /** A credential was created, changed, revoked or deleted. */
  readonly [CAEP.credentialChange]: SecurityEventPayloads[typeof CAEP.sessionRevoked] & {
    /** `password`, `pin`, `x509`, `fido2-platform`, `fido2-roaming`, `fido-u2f`, `verifiable-credential`, `phone-voice`, `phone-sms`, `app`, or another that both sides know. */
    readonly credential_type: string;
    readonly change_type: "create" | "revoke" | "update" | "delete";
    readonly friendly_name?: string;
    readonly x509_issuer?: string;
    readonly x509_serial?: string;
    readonly fido2_aaguid?: string;
  };
  /** The user was authenticated more or less strongly than before. */
  readonly [CAEP.assuranceLevelChange]: SecurityEventPayloads[typeof CAEP.sessionRevoked] & {
    /** `RFC8176`, `RFC6711`, `ISO-IEC-29115`, `NIST-IAL`, `NIST-AAL`, `NIST-FAL`, or another that both sides know. */
    readonly namespace: string;
    readonly current_level: string;
    readonly previous_level?: string;
    readonly change_direction?: "increase" | "decrease";
  };
  /** A device complies with the rules, or no longer does. */
  readonly [CAEP.deviceComplianceChange]: SecurityEventPayloads[typeof CAEP.sessionRevoked] & {
    readonly previous_status: "compliant" | "not-compliant";
    readonly current_status: "compliant" | "not-compliant";
  };
  /** A session has begun. */
  readonly [CAEP.sessionEstablished]: SecurityEventPayloads[typeof CAEP.sessionRevoked] & {
    readonly fp_ua?: string;
    readonly acr?: string;
    readonly amr?: readonly string[];
    readonly ext_id?: string;
  };
  /** The session was seen. */
  readonly [CAEP.sessionPresented]: SecurityEventPayloads[typeof CAEP.sessionRevoked] & {
    readonly fp_ua?: string;
    readonly ext_id?: string;
  };
  /** The risk of the subject is another one. */
  readonly [CAEP.riskLevelChange]: SecurityEventPayloads[typeof CAEP.sessionRevoked] & {
    /** `USER`, `DEVICE`, `SESSION`, `TENANT`, `ORG_UNIT`, `GROUP`, or another that both sides know. */
    readonly principal: string;
    readonly current_level: "LOW" | "MEDIUM" | "HIGH";
    readonly previous_level?: "LOW" | "MEDIUM" | "HIGH";
    readonly risk_reason?: string;
  };
  /** The account is disabled. */
  readonly [RISC.accountDisabled]: {
    /** Why: somebody else uses it, or it is one of many that were made to misuse them. */
    readonly reason?: "hijacking" | "bulk-account";
  };
  /** The account has another identifier. */
  readonly [RISC.identifierChanged]: {
    /** The identifier that it has now. */
    readonly "new-value"?: string;
  };
  /** A credential is known to others. */
  readonly [RISC.credentialCompromise]: SecurityEventPayloads[typeof CAEP.sessionRevoked] & {
    /** As that of CAEP's credential change. */
    readonly credential_type: string;
  };
  /** A resource was created: the names of its attributes. */
  readonly [SCIM.createNotice]: {
    /** The names of the attributes that were set or changed. */
    readonly attributes: readonly string[];
    /** The version of the resource, as its ETag has it. */
    readonly version?: string;
  };
  /** A resource was created: the whole of it. */
  readonly [SCIM.createFull]: {
    /** The resource as SCIM represents it. */
    readonly data: Readonly<Record<string, unknown>>;
    /** The version of the resource, as its ETag has it. */
    readonly version?: string;
  };
  /** A resource was changed by PATCH: the names of its attributes. */
  readonly [SCIM.patchNotice]: SecurityEventPayloads[typeof SCIM.createNotice];
  /** A resource was changed by PATCH: the whole of it. */
  readonly [SCIM.patchFull]: SecurityEventPayloads[typeof SCIM.createFull];
  /** A resource was replaced by PUT: the names of its attributes. */
  readonly [SCIM.putNotice]: SecurityEventPayloads[typeof SCIM.createNotice];
  /** A resource was replaced by PUT: the whole of it. */
  readonly [SCIM.putFull]: SecurityEventPayloads[typeof SCIM.createFull];
  /** The stream is tried out. */
  readonly [SSF.verification]: {
    /** What the receiver gave when it asked for the event. */
    readonly state?: string;
  };
  /** The transmitter has changed the status of the stream. */
  readonly [SSF.streamUpdated]: {
    /** `paused` events are kept for later, those of a stream that is `disabled` are not. */
    readonly status: "enabled" | "paused" | "disabled";
    /** Why, in words. */
    readonly reason?: string;
  };
}

/** Whom or what a token is about, next to its events (RFC 8417 section 2.2, RFC 9493). */
export interface SecurityEventAbout {
  /** The subject: its `format`, such as `iss_sub`, `email` or `opaque`, and the members of that format. */
  readonly sub_id?: {
    /** The name of its format. */
    readonly format: string;
    readonly [member: string]: unknown;
  };
  /** The same text in all tokens that come from one transaction. */
  readonly txn?: string;
  /** When the event happened, in Unix seconds. */
  readonly toe?: number;
}

/** The payload of an event that is sent as a security event token. */
export interface SecurityEvent extends SecurityEventAbout {
  /** The events by the URIs of their types; all of them tell of one thing that happened. */
  readonly events: Readonly<Record<string, object>>;
}

/**
 * The payload for one event: give it to `send`, `createEvent` or `enqueue`. The types of known events are checked by
 * TypeScript; any other URI takes any object.
 *
 * @param type the URI of the event's type, one of `CAEP` or any other
 * @param payload what the event says
 * @param about subject, transaction and time
 * @throws {HookproofError} EVENT_INVALID for a type that is no URI
 *
 * @example
 * ```ts
 * import { CAEP, securityEvent } from "hookproof/set";
 *
 * const event = securityEvent(
 *   CAEP.sessionRevoked,
 *   { event_timestamp: 1767225600, initiating_entity: "policy" },
 *   { sub_id: { format: "iss_sub", iss: "https://idp.example.com/", sub: "u_123" } },
 * );
 * ```
 */
export function securityEvent<Type extends string>(
  type: Type,
  payload: Type extends keyof SecurityEventPayloads
    ? SecurityEventPayloads[Type]
    : Readonly<Record<string, unknown>>,
  about: SecurityEventAbout = {},
): SecurityEvent {
  const event = { events: { [type]: payload }, ...about };
  const fault = eventsFault(event.events);
  if (fault !== undefined) throw new HookproofError("EVENT_INVALID", `The claim events has ${fault}.`);
  return event;
}

/** A token tells of one thing that happened, which seldom has more than two event types. */
export const MAX_EVENTS = 16;

/** What is wrong with the claim `events`; nothing if it is an object with URIs as names and objects as values. */
export function eventsFault(events: unknown): string | undefined {
  if (!isObject(events)) return Array.isArray(events) ? "a list, and not an object" : "no object";
  const entries = Object.entries(events);
  if (entries.length === 0) return "no event";
  if (entries.length > MAX_EVENTS) return `more than ${MAX_EVENTS} events`;
  if (entries.some(([name]) => !URI.test(name))) return "a name that is not a URI";
  return entries.every(([, value]) => isObject(value)) ? undefined : "a value that is not an object";
}

const URI = /^[a-z][a-z0-9+.-]*:[!-~]+$/i;
