// What usually leads to a refusal, by status.
const LIKELY: Readonly<Record<number, readonly string[]>> = {
  400: ["a clock that is more than 5 minutes off", "a proxy that removed or changed a header"],
  401: [
    "another secret or key than the listener's own",
    "a listener of the other method (HMAC or JWT)",
    "a secret that was decoded, trimmed or quoted on its way here",
    "a proxy that changed the body",
    "a key set that the service cannot fetch, or that lacks the key",
    "a login or gateway in front",
  ],
  403: ["a source address outside the listener's allowed ranges", "a firewall or proxy in between"],
  404: [
    "a mistyped listener id or base URL",
    "an automation that is not published, or whose trigger is not enabled",
  ],
  405: ["a URL that is not the listener's", "a proxy that changed the request"],
  413: ["a proxy with a lower limit than the service's 65,536 bytes"],
  415: ["a URL that is not the listener's", "a proxy that changed the request"],
};

const REDIRECT = ["a URL that is not the listener's final one: http for https, or another host"];
const OTHER = ["a URL that is not the listener's", "a proxy in between"];

/** What usually leads to a refusal with this status; one source for senders, for `explain` and for pages. */
export function likelyCauses(status: number): readonly string[] {
  return LIKELY[status] ?? (status >= 300 && status < 400 ? REDIRECT : OTHER);
}
