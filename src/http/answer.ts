import { HookproofError } from "../errors.js";

/** More answers ahead of the answer (100, 102, 103) than any server sends, and more bytes of headers in them. */
const MOST_AHEAD = 20;
const MOST_BYTES_AHEAD = 16_384;

/** A proxy that answered in the host's place, or could not be used. */
export function proxyFailed(url: string, what: string): HookproofError {
  return new HookproofError(
    "PROXY_FAILED",
    `The proxy ${what}; no answer came from ${new URL(url).host} itself.`,
  );
}

/** Why a status is no answer of a URL's host, if it is none: 407 is a proxy's word, and 101 ends HTTP. */
export function refusedStatus(status: number, url: string): HookproofError | undefined {
  if (status === 407) return proxyFailed(url, "answered 407 (proxy authentication required)");
  if (status >= 200) return undefined;
  return new HookproofError(
    "RESPONSE_INVALID",
    `${new URL(url).host} answered ${status}, which is no answer.`,
  );
}

/** Counts what comes ahead of one answer, with the length of its headers, and says when it is too much. */
export function limitAhead(): (bytes: number) => HookproofError | undefined {
  let count = 0;
  let length = 0;
  return (bytes) => {
    count += 1;
    length += bytes;
    return count > MOST_AHEAD || length > MOST_BYTES_AHEAD
      ? new HookproofError(
          "RESPONSE_INVALID",
          "More than 20 informational answers (1xx), or more than 16 KiB of them, came ahead of an answer.",
        )
      : undefined;
  };
}

/** What HTTP clients say of a proxy that refuses; an `Error` of theirs has no code for it. */
const SAID_OF_PROXY =
  /^Proxy (?:response|Authentication Required) \((\d{3})\)|^Proxy connection ended before/;

/** A client's own error of a proxy, as ours. */
export function proxyError(error: Error, url: string): HookproofError | undefined {
  const said = SAID_OF_PROXY.exec(error.message);
  if (said) return proxyFailed(url, said[1] ? `answered ${said[1]} to CONNECT` : "closed the connection");
  const code = "code" in error ? String(error.code) : "";
  return code.startsWith("ERR_PROXY_") ? proxyFailed(url, `refused (${code})`) : undefined;
}
