// Requests that are right by Standard Webhooks, to find a listener that verifies by that scheme.
import { hmacOf } from "#hash";
import { decodeBase64url, encodeBase64, utf8 } from "../../core/bytes.js";
import { SIGNATURE_HEADER } from "../../schemes/access-governance/protocol.js";
import { decodeAnyBase64 } from "../texts/rewrite.js";
import type { BuiltRequest } from "./probe.js";
import { type HmacKit, partsOf, replaced } from "./requests.js";

/** A request of that scheme, in the form of the requests with known mistakes. */
interface StandardRequest {
  readonly mistakes: readonly string[];
  readonly weight: number;
  build(kit: HmacKit): Promise<BuiltRequest>;
}

/** Requests as Standard Webhooks signs them: with the decoded secret, as its libraries do, and with the secret's text. */
export function standardRequests(secret: string): readonly StandardRequest[] {
  const decoded = decodeAnyBase64(secret.replace(/^whsec_/, ""));
  return [...(decoded ? [decoded] : []), utf8(secret)].map((key) => ({
    mistakes: ["demands-standard-webhooks"],
    weight: 2,
    async build(kit) {
      const { timestamp, eventId, body } = partsOf(kit);
      const digest = decodeBase64url(hmacOf("sha256", key, [`${eventId}.${timestamp}.`, body]));
      const signature = `v1,${encodeBase64(digest ?? new Uint8Array())}`;
      const request = replaced(await kit.signed(), SIGNATURE_HEADER, signature);
      // Its two other headers have the names of ours, in any case of letters.
      return { ...request, headers: [...request.headers, ["webhook-id", eventId]] };
    },
  }));
}
