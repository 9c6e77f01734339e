// The signer of security event tokens.
import { decodeUtf8, utf8 } from "../../core/bytes.js";
import { HookproofError } from "../../core/errors.js";
import { isObject, lostByParsing, parseJson } from "../../core/json.js";
import { checkOptions } from "../../core/options.js";
import { shownAs } from "../../core/shown.js";
import { eventsFault } from "../../events/security-events.js";
import { type SigningKeySource, tokenSigner } from "../../jwt/sign-token.js";
import type { Scheme, Signer } from "../scheme.js";
import { classify } from "./answers.js";

/** The header's `typ`, and the media type without `application/` (RFC 8417 section 2.3). */
export const SET_TYP = "secevent+jwt";

/** Security event tokens (RFC 8417), one in each request (RFC 8935). */
export const securityEventToken: Scheme = {
  name: "security-event-token",
  contentType: `application/${SET_TYP}`,
  proof: "event",
  takesEventId: () => true,
  ownHeaders: ["accept"],
  headers: () => [["Accept", "application/json"]],
  classify,
};

/** Who issues security event tokens, for whom, and with which key. */
export interface SecurityEventSignerOptions {
  /** The claim `iss`: the URL of the issuer, exactly as receivers compare it. */
  readonly issuer: string;
  /** The claim `aud`: whom the tokens are for; one text, or a list of them. */
  readonly audience: string | readonly string[];
  /** The key, or a function that gives the one of now: `() => keySet.signingKey("ES256")`. */
  readonly key: SigningKeySource;
}

/**
 * A signer that sends each event as a security event token: the body is the signed token, and its `jti` is the event id.
 * The payload of the event has `events`, and may have `sub_id`, `txn`, `toe` and claims of a profile; `securityEvent`
 * makes one. `iss`, `iat`, `jti` and `aud` are the signer's.
 *
 * A token has no `exp` (RFC 8417 section 2.2: it tells of what has happened). `iat` is the time of the event's first
 * attempt, also in later ones, so that all copies say the same. They are signed by the key of their moment, so that a
 * rotation refuses none.
 *
 * @throws {TypeError} for a wrong option. An attempt fails with EVENT_INVALID for a payload that cannot be a token, and with
 * KEY_UNFIT or SIGNER_FAILED because of the key
 *
 * @example
 * ```ts
 * import { createSender } from "hookproof";
 * import { createKeySet, generateKey } from "hookproof/jwks";
 * import { CAEP, securityEvent, securityEventSigner } from "hookproof/set";
 *
 * const keySet = createKeySet([await generateKey({ alg: "ES256" })]);
 * const sender = createSender({
 *   url: "https://receiver.example.com/events",
 *   signer: securityEventSigner({
 *     issuer: "https://idp.example.com/",
 *     audience: "https://receiver.example.com/",
 *     key: () => keySet.signingKey("ES256"),
 *   }),
 * });
 * const send = () => sender.send(securityEvent(CAEP.sessionRevoked, { event_timestamp: 1767225600 }));
 * ```
 */
export function securityEventSigner(options: SecurityEventSignerOptions): Signer {
  checkOptions("securityEventSigner", options, { issuer: 1, audience: 1, key: 1 });
  const { issuer, audience, key } = options;
  if (typeof issuer !== "string" || issuer === "") throw new TypeError("issuer must be a text, as in iss");
  const recipients = typeof audience === "string" ? [audience] : audience;
  if (!Array.isArray(recipients) || recipients.length === 0 || !recipients.every(isName))
    throw new TypeError("audience must be a text, or a list of them, as in aud");
  const aud = typeof audience === "string" ? audience : [...audience];
  const signToken = tokenSigner(key, SET_TYP);
  const signer: Signer = {
    scheme: securityEventToken,
    async sign({ eventId, timestamp, body }) {
      const own = { iss: issuer, iat: Number(timestamp), jti: eventId, aud };
      return { headers: [], body: utf8(await signToken({ ...own, ...claimsOf(body) })) };
    },
  };
  return shownAs(signer, "Signer { scheme: 'security-event-token', key: [redacted] }");
}

function isName(value: unknown): boolean {
  return typeof value === "string" && value !== "";
}

/** Claims that the signer makes itself, and those by which a token would look like another kind of it. */
const NOT_FROM_PAYLOAD = ["iss", "iat", "jti", "aud", "exp", "nbf"];

function claimsOf(body: Uint8Array): Readonly<Record<string, unknown>> {
  const parsed = parseJson(body);
  const payload = parsed.ok ? parsed.value : undefined;
  if (!isObject(payload))
    throw invalid('must be an object such as securityEvent() makes: {"events": {"<type\'s URI>": {…}}}');
  const taken = NOT_FROM_PAYLOAD.find((name) => Object.hasOwn(payload, name));
  if (taken !== undefined)
    throw invalid(
      taken === "exp" || taken === "nbf"
        ? `must not have ${taken}: a security event token tells of what has happened`
        : `must not have ${taken}: the signer sets it`,
    );
  const lost = lostByParsing(decodeUtf8(body) ?? "");
  if (lost !== undefined) throw invalid(`has ${lost}, and a token writes it again: it would be changed`);
  const fault = eventsFault(payload.events);
  if (fault !== undefined) throw invalid(`has ${fault} in the member events`);
  return payload;
}

function invalid(what: string): HookproofError {
  return new HookproofError("EVENT_INVALID", `The payload ${what}.`);
}
