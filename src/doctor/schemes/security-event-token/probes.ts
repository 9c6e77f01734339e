// The probes of security event tokens.
import { decodeUtf8, encodeBase64url, utf8 } from "../../../core/bytes.js";
import { CONTENT_TYPE_HEADER } from "../../../core/headers.js";
import { CAEP } from "../../../events/security-events.js";
import type { SigningKey } from "../../../jwt/key.js";
import { SET_TYP, securityEventSigner } from "../../../schemes/security-event-token/sign.js";
import type { SchemeProbeTarget } from "../../probes/scheme-probes.js";
import { changedProbe, keyLike, otherKey } from "../probe-rows.js";

const PAYLOAD = JSON.stringify({
  events: { [CAEP.sessionRevoked]: { event_timestamp: 1_767_225_600, initiating_entity: "policy" } },
  sub_id: { format: "email", email: "mara@example.com" },
});

/** A listener's URL and what its sender has. */
export interface SecurityEventSetup {
  readonly scheme: "security-event-token";
  /** The listener's URL. */
  readonly url: string;
  /** The key of the issuer, of which the listener knows the public half. */
  readonly key: SigningKey;
  /** The claim `iss`. */
  readonly issuer: string;
  /** The claim `aud`. */
  readonly audience: string;
}

/** What a listener of security event tokens is probed with. */
export async function probeTarget({
  url,
  key,
  issuer,
  audience,
}: SecurityEventSetup): Promise<SchemeProbeTarget> {
  return {
    url,
    signer: securityEventSigner({ key, issuer, audience }),
    specification: "RFC 8417 and RFC 8935",
    payload: PAYLOAD,
    tooOldSeconds: 8 * 86_400,
    wrongSigners: [
      otherKey(securityEventSigner({ key: await keyLike(key), issuer, audience })),
      {
        id: "iss-of-other",
        title: "a token of another issuer",
        means: "Anyone who has a key of the set can speak for another issuer.",
        fix: "Compare iss letter by letter.",
        signer: securityEventSigner({ key, issuer: `${issuer}other`, audience }),
      },
      {
        id: "aud-of-other",
        title: "a token for another receiver",
        means: "Another receiver of the same issuer can pass its tokens on.",
        fix: "Compare aud, a text or a list of them, with the receiver's own name.",
        signer: securityEventSigner({ key, issuer, audience: `${audience}other` }),
      },
    ],
    wrongChanges: [
      changedProbe("content-type-of-json", "a token as application/json", ({ body }) => ({
        headers: [[CONTENT_TYPE_HEADER, "application/json"]],
        body,
      })),
      changedProbe("alg-none", "a token with alg none", ({ headers, body }) => ({
        headers,
        body: unsigned(body),
      })),
    ],
  };
}

/** The same claims with `alg: none`. */
function unsigned(token: Uint8Array): Uint8Array {
  const [, claims = ""] = (decodeUtf8(token) ?? "").split(".");
  return utf8(`${encodeBase64url(utf8(`{"alg":"none","typ":"${SET_TYP}"}`))}.${claims}.`);
}
