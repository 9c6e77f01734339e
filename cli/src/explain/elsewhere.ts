// What answers in a listener's place, by its name and by statuses that the service never gives.
import type { Explanation } from "./command-line.js";

const WHO = "hookproof test <url> says what answers, by its headers and its first line.";

/** What stands between a sender and a listener, by its name. */
const BETWEEN: Readonly<Record<string, Explanation>> = {
  CSRF: [
    "A framework's protection of forms (CSRF) refuses every POST without its own token: Django with 403, Rails with 422, Laravel with 419.",
    "Except the listener's route from the CSRF check: Laravel's validateCsrfTokens(except: …), Django's csrf_exempt, Rails' skip_forgery_protection.",
  ],
  CORS: [
    "A browser asks with OPTIONS before it sends JSON to another origin, and a listener takes POST alone: it answers 405.",
    "Send from a server. What signs holds the secret or the key, and a browser shows both to its user.",
  ],
  NGROK: [
    "ngrok answers in the listener's place: ERR_NGROK_3200 where the tunnel is not running, ERR_NGROK_8012 where nothing listens behind it, ERR_NGROK_6024 with its warning page for browsers.",
    "Compare the host in the URL with the one that ngrok shows, and the port with the listener's. The warning page is not shown to requests with the header ngrok-skip-browser-warning.",
  ],
};

/** The names of all of them. */
export const BETWEEN_NAMES = Object.keys(BETWEEN);

const OF_STATUS: Readonly<Record<string, string>> = {
  407: "a proxy wants a password (HTTPS_PROXY)",
  418: "a firewall that refuses programs with it, or another application at this address",
  419: "Laravel's protection of forms (CSRF)",
  422: "another application at this address, or Rails' protection of forms (CSRF)",
  426: "a server for WebSockets, or one that wants TLS",
  511: "a network that wants a login",
};

/** What is known under a name or a status that is not the service's. */
export function findElsewhere(
  given: string,
):
  | { readonly kind: "word" | "status"; readonly name: string; readonly explanation: Explanation }
  | undefined {
  const name = given.toUpperCase();
  const known = Object.hasOwn(BETWEEN, name) ? BETWEEN[name] : undefined;
  if (known) return { kind: "word", name, explanation: known };
  if (!/^[1-5][0-9]{2}$/.test(given)) return undefined;
  const who = OF_STATUS[given] ?? whoOf(Number(given));
  return {
    kind: "status",
    name: given,
    explanation: [`The service never answers ${given}. What does, is ${who}.`, WHO],
  };
}

function whoOf(status: number): string {
  if (status >= 300 && status < 400) return "a redirect to another address, which a sender does not follow";
  if (status >= 520 && status <= 530) return "a CDN (Cloudflare) that does not reach the application";
  return "something in front of the listener, or another application at this address";
}
