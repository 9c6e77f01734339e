// The default scheme, as data.
import type { Scheme } from "../scheme.js";
import { classify } from "./answers.js";
import { parseListenerUrl } from "./listener-url.js";
import { EVENT_ID_HEADER, TIMESTAMP_HEADER } from "./protocol.js";

/** The scheme of the Access Governance Service (specification 5.2), with the header lines that a method sets itself. */
function schemeWith(ownHeaders: readonly string[]): Scheme {
  return {
    name: "access-governance",
    contentType: "application/json",
    proof: "attempt",
    ownHeaders,
    targetUrl: (url, plainHttpHosts) => parseListenerUrl(url, plainHttpHosts).href,
    headers: ({ timestamp, eventId }) => [
      [TIMESTAMP_HEADER, timestamp],
      [EVENT_ID_HEADER, eventId],
    ],
    classify,
  };
}

/** By a token, in `Authorization`. */
export const byToken: Scheme = /* @__PURE__ */ schemeWith(["webhook-*", "authorization"]);

/** By an HMAC signature: `Authorization` is free for a gateway in front of the listener. */
export const byHmac: Scheme = /* @__PURE__ */ schemeWith(["webhook-*"]);
