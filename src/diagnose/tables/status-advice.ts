const NOTHING = "Nothing to do.";
const SAME_ID =
  "Send the same event again later, with the same id and a fresh timestamp: createSender does it by itself.";

/** What each status of the service means to a sender, and what to do about it (specification 7). */
export const STATUS_ADVICE: Readonly<Record<number, readonly [message: string, fix: string]>> = {
  200: ["The event was accepted, and its automation is triggered.", NOTHING],
  400: [
    "A header, the timestamp or the body is not as it must be.",
    "The code in the answer names it: hookproof explain <code>. hookproof doctor <url> compares the clocks.",
  ],
  401: [
    "The signature or the token was refused, or is missing.",
    "Look for the sender's mistake: hookproof events export last | hookproof verify - --secret-file <path>. If that accepts it, look for the listener's: hookproof test <url>.",
  ],
  403: [
    "The source address is not allowed.",
    "Send from an address that the listener allows, or allow this one.",
  ],
  404: [
    "There is no such listener, or its trigger is not active.",
    "Copy the URL from the trigger's configuration, and publish and enable the automation.",
  ],
  405: [
    "Another method than POST was sent.",
    "Send POST, to the listener's final URL: a redirect turns it into GET.",
  ],
  409: [
    "The event id was processed before; the automation did not run again.",
    "Nothing to do: a sender takes it for success. A new event needs a new id.",
  ],
  413: ["The body has more than 65,536 bytes.", "Send an id, and let the automation fetch the rest."],
  415: [
    "The body is not announced as JSON, or it is compressed.",
    "Send Content-Type: application/json and no Content-Encoding.",
  ],
  429: ["Too many requests came in a short time.", SAME_ID],
  431: ["The request has too many header lines.", "Send fewer headers; look for a proxy that adds them."],
  500: ["The service failed.", SAME_ID],
  502: ["A proxy got no valid answer from the service.", SAME_ID],
  503: ["The service cannot accept events right now, or is still busy with this one.", SAME_ID],
  504: ["A proxy got no answer from the service in time.", SAME_ID],
};
