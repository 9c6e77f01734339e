// The URL of any receiver of webhooks in its one form.
import { isLoopbackHost } from "./address.js";
import { HookproofError } from "./errors.js";

/** The URL of any receiver of webhooks in its one form, or refused by name before anything is signed or sent. */
export function parseTargetUrl(text: string, plainHttpHosts?: readonly string[]): URL {
  const url = plainUrl(text);
  requireTls(url, plainHttpHosts);
  return url;
}

export function plainUrl(text: string): URL {
  const url = parseUrl(text);
  if (text.includes("#")) throw invalidUrl("must not have a fragment");
  if (url.search === "") url.search = ""; // a lone question mark, which is not sent and must not be signed
  return url;
}

/** Refuses plain HTTP, but to this machine and to the hosts that an option names. */
export function requireTls(url: URL, plainHttpHosts: readonly string[] = []): void {
  if (url.protocol === "https:") return;
  if (url.protocol !== "http:") throw invalidUrl("must start with https://");
  const host = url.hostname.replace(/\.$/, "");
  if (
    isLoopbackHost(host) ||
    plainHttpHosts.some((name) => isNamedBy(name.toLowerCase().replace(/\.$/, ""), host))
  )
    return;
  throw new HookproofError(
    "TLS_REQUIRED",
    `${shortened(url.host)} is not on this machine: use https://. Plain HTTP is for loopback, and in development for names in plainHttpHosts.`,
  );
}

function isNamedBy(name: string, host: string): boolean {
  return name === "*.localhost" ? host.endsWith(".localhost") : host === name;
}

/** A name that no public DNS has: of one part, as containers have them, or under a top level that is for local names. */
const LOCAL_NAME =
  /^(?:[a-z_][\w-]{0,62}|\*\.localhost|[\w-]{1,63}(?:\.[\w-]{1,63}){0,8}\.(?:localhost|internal|local|test))$/i;

/** Whether the option `plainHttpHosts` can open a name. */
export function isLocalName(name: string): boolean {
  return LOCAL_NAME.test(name);
}

/**
 * Checks the option `plainHttpHosts`, which can open no host of the Internet.
 *
 * @throws {TypeError} with the name that is refused
 */
export function checkPlainHttpHosts(names: readonly string[] | undefined): void {
  const refused = names?.find((name) => !isLocalName(name));
  if (refused !== undefined)
    throw new TypeError(
      `plainHttpHosts cannot have ${JSON.stringify(refused.slice(0, 100))}: it takes names of containers ("app"), "*.localhost", and names under .localhost, .internal, .local and .test`,
    );
}

/** A host as a sentence has it: a name in DNS has at most 253 characters. */
function shortened(host: string): string {
  return host.length > 260 ? `${host.slice(0, 260)}…` : host;
}

/**
 * What `URL` drops or replaces without a word, and other programs read another way: the text that was configured would
 * not be the text that is signed, or another host.
 */
const TWO_READINGS: readonly (readonly [form: RegExp, rule: string])[] = [
  // Also where it is the beginning of a text that was put together.
  [/^(?:undefined\b|$)/, "is undefined or empty: its environment variable may not be set"],
  [/[\t\r\n]|^\s|\s$/, "must not have line breaks, tabs or spaces around it"],
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
  [/[\0-\x1f\x7f]|\p{Surrogate}/u, "must not have control characters or halves of characters"],
  [/\\/, "must not have a backslash: write /, or %5C"],
  [/^(?![a-z][a-z0-9+.-]*:\/\/[^/?#])/i, "must be an absolute URL"],
  [/^[^/?#]*\/\/[^/?#]*@/, "must not carry credentials"],
];

/** The form that most have, in one look: none of the rules applies to it. */
const PLAIN = /^https?:\/\/[\w.:[\]-]+(?:[/?#][!-[\]-~]*)?$/;

export function parseUrl(text: string): URL {
  return wholeUrl(text, invalidUrl);
}

/** A URL that has one reading; otherwise throws what `refusal` makes of the rule that it breaks. */
export function wholeUrl(text: string, refusal: (rule: string) => Error): URL {
  if (text !== undefined && typeof text !== "string") throw new TypeError("url must be a string");
  const rule = PLAIN.test(text) ? undefined : TWO_READINGS.find(([form]) => form.test(text))?.[1];
  if (rule !== undefined) throw refusal(rule);
  try {
    return new URL(text);
  } catch {
    throw refusal("must be an absolute URL");
  }
}

export function invalidUrl(rule: string): HookproofError {
  return new HookproofError("LISTENER_URL_INVALID", `The listener's URL ${rule}.`);
}
