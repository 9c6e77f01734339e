// The default scheme, as data.
import type { Scheme } from "../scheme.js";
import { classify } from "./answers.js";
import { parseListenerUrl } from "./listener-url.js";
import { EVENT_ID_HEADER, TIMESTAMP_HEADER } from "./protocol.js";

/** The scheme of the Access Governance Service (specification 5.2): an HMAC signature or a token, as its signer makes it. */
export const accessGovernance: Scheme = {
  name: "access-governance",
  contentType: "application/json",
  proof: "attempt",
  ownHeaders: ["webhook-*", "authorization"],
  targetUrl: (url) => parseListenerUrl(url).href,
  headers: ({ timestamp, eventId }) => [
    [TIMESTAMP_HEADER, timestamp],
    [EVENT_ID_HEADER, eventId],
  ],
  classify,
};
