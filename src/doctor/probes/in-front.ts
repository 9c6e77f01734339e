// Names what answers in a listener's place, where all requests get the same answer.
import { type HeaderPair, onlyValue } from "../../core/headers.js";
import { shown } from "../../core/shown.js";
import { type ListenerVerdict, unprovedBy } from "./listener-verdict.js";
import type { ProbeResult } from "./send-probe.js";

/** So many answers have to be alike, and none another one. */
const LEAST_ANSWERS = 10;

/** One answer, whole. */
export interface FrontAnswer {
  readonly status: number;
  readonly headers: readonly HeaderPair[];
  readonly body: Uint8Array;
}

/** The status that every request got, right or wrong; `undefined` if they differ, or say nothing by being alike. */
export function commonStatus(results: readonly ProbeResult[]): number | undefined {
  const statuses = results.flatMap(({ status }) => status ?? []);
  const [first = 0] = statuses;
  const isAlike = statuses.length >= LEAST_ANSWERS && statuses.every((status) => status === first);
  return isAlike && first >= 300 && first !== 429 ? first : undefined;
}

/** What an answer shows, and what it means. */
interface Sign {
  readonly shows: (seen: Seen) => boolean;
  readonly who: string;
  readonly fix: string;
}

interface Seen {
  readonly status: number;
  /** The value of a header; empty if it is absent. */
  readonly header: (name: string) => string;
  /** The start of the body. */
  readonly text: string;
}

const SAME_ADDRESS = "Compare the URL with the route, with the path that a gateway adds or takes away.";

/** The first one that shows is named: the more telling before the more common. */
const SIGNS: readonly Sign[] = [
  {
    shows: ({ status, header }) =>
      status < 400 && /log[io-]*n|sign-?in|auth|sso|session/i.test(header("location")),
    who: "a login page is in front of it",
    fix: "Except the listener's route from the login: the signature is its proof.",
  },
  {
    shows: ({ status }) => status < 400,
    who: "the address leads elsewhere, and a sender follows no redirect",
    fix: "Give senders the address that it leads to, with https and the host as it redirects.",
  },
  {
    shows: ({ header }) => /^(?:basic|digest|negotiate|ntlm)\b/i.test(header("www-authenticate")),
    who: "HTTP authentication is in front of it",
    fix: "Except the listener's route from it: the signature is the proof, and a sender has no password.",
  },
  {
    shows: ({ status, text }) => status === 419 || /csrf|page expired|forgery/i.test(text),
    who: "a framework's protection of forms (CSRF) refuses it before the listener is asked",
    fix: "Except the listener's route from the CSRF check: Laravel's validateCsrfTokens(except: …), Django's csrf_exempt, Rails' skip_forgery_protection.",
  },
  {
    shows: ({ status, header, text }) =>
      [403, 406, 409, 503].includes(status) &&
      (/cloudflare|akamai|sucuri|imperva|incapsula|awselb|cloudfront/i.test(header("server")) ||
        header("cf-ray") !== "" ||
        /web application firewall|request blocked|access denied|captcha|attention required/i.test(text)),
    who: "a firewall or CDN in front of it refuses the requests",
    fix: "Let requests to the listener's route pass there; its log names the rule.",
  },
  {
    shows: ({ status, header, text }) =>
      status === 503 && (header("retry-after") !== "" || /maintenance|unavailable/i.test(text)),
    who: "it is out of service at the moment, or a maintenance page is in front of it",
    fix: "Test again when it is back.",
  },
  {
    shows: ({ status }) => status === 502 || status === 504,
    who: "a proxy in front of it does not reach the application",
    fix: "Look whether the application runs where the proxy looks for it.",
  },
  {
    shows: ({ status }) => status >= 500,
    who: "it fails at every request, also at wrong ones, before it has looked at a signature",
    fix: "Look into its log for the exception.",
  },
  {
    shows: ({ status }) => status === 405,
    who: "no POST is taken at this address",
    fix: SAME_ADDRESS,
  },
];

/** The verdict where something answers all requests alike that is told by its answer; `undefined` if none is. */
export function frontVerdict(
  results: readonly ProbeResult[],
  answer: FrontAnswer,
  requests: number,
): ListenerVerdict | undefined {
  const { status, headers, body } = answer;
  const text = new TextDecoder().decode(body.subarray(0, 4_096));
  const seen = { status, text, header: (name: string) => onlyValue(headers, name) ?? "" };
  const sign = SIGNS.find(({ shows }) => shows(seen));
  if (!sign) return undefined;
  const told = [headerLine("Location", seen), headerLine("WWW-Authenticate", seen), lineOf(text)].find(
    Boolean,
  );
  return {
    id: "answers-alike",
    sentence: `Every request, right or wrong, is answered ${status}${told ? ` (${told})` : ""}: ${sign.who}.`,
    fix: sign.fix,
    follows: results.filter(({ outcome }) => outcome === "fail" || outcome === "unclear").map(({ id }) => id),
    unproved: unprovedBy(results, status),
    requests,
  };
}

function headerLine(name: string, { header }: Seen): string {
  const value = header(name.toLowerCase()).replace(/\?.*$/s, ""); // a query may hold a ticket
  return value === "" ? "" : `${name}: ${shown(value, 80)}`;
}

/** The title of a page, or the first line of a text, as far as it may be shown. */
function lineOf(text: string): string {
  const title = /<title(?:\s[^<>]{0,200})?>([^<]{1,200})/i.exec(text)?.[1];
  const plain = title ?? text.replace(/<(?:style|script)[^<>]*>[^<]*|<[^<>]*>/gi, " ");
  const line = plain
    .split("\n")
    .map((one) => one.trim())
    .find((one) => one !== "");
  return line === undefined ? "" : shown(line.replace(/[\w+/=-]{24,}/g, "…"), 100);
}
