// The URL of any receiver of webhooks in its one form.
import { isLoopbackHost } from "./address.js";
import { HookproofError } from "./errors.js";

/** The URL of any receiver of webhooks in its one form, or refused by name before anything is signed or sent. */
export function parseTargetUrl(text: string): URL {
  const url = plainUrl(text);
  requireTls(url);
  return url;
}

export function plainUrl(text: string): URL {
  const url = parse(text);
  if (url.username !== "" || url.password !== "") throw invalid("must not carry credentials");
  if (url.hash !== "" || text.includes("#")) throw invalid("must not have a fragment");
  if (url.search === "") url.search = ""; // a lone question mark, which is not sent and must not be signed
  return url;
}

export function requireTls(url: URL): void {
  if (url.protocol === "https:") return;
  if (url.protocol !== "http:") throw invalid("must start with https://");
  if (!isLoopbackHost(url.hostname)) {
    throw new HookproofError(
      "TLS_REQUIRED",
      `${shortened(url.host)} is not on this machine: use https://. Plain HTTP is for loopback.`,
    );
  }
}

/** A host as a sentence has it: a name in DNS has at most 253 characters. */
function shortened(host: string): string {
  return host.length > 260 ? `${host.slice(0, 260)}…` : host;
}

export function parse(text: string): URL {
  if (typeof text !== "string") throw new TypeError("url must be a string");
  // URL drops these without a word, and the text that was configured would not be the text that is signed.
  if (/[\t\r\n]|^ | $/.test(text)) throw invalid("must not have line breaks, tabs or spaces around it");
  try {
    return new URL(text);
  } catch {
    throw invalid("must be an absolute URL");
  }
}

export function invalid(rule: string): HookproofError {
  return new HookproofError("LISTENER_URL_INVALID", `The listener's URL ${rule}.`);
}
