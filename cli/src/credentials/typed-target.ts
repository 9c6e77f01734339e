// Turns a target as a person types it into a URL.
import { usageError } from "../failure.js";

const LOOPBACK = /^(?:https?:\/\/)?(?:localhost|127\.0\.0\.1|\[::1\]):([0-9]{1,5})\/?$/i;

/**
 * A target as a person types it: `localhost:4400` and `4400` are `:4400`, and a host with a path needs no scheme.
 * Anything else stays, to be a profile's name.
 */
export function typedTarget(
  given: string,
  {
    isProfile,
    hasListener,
  }: { isProfile: (name: string) => boolean; hasListener: (port: number) => boolean },
): string {
  if (/^[0-9]{1,5}$/.test(given) && !isProfile(given)) return checkedPort(`:${given}`);
  if (given.startsWith(":")) return checkedPort(given);
  const port = LOOPBACK.exec(given)?.[1];
  if (port !== undefined && hasListener(Number(port))) return `:${port}`;
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(given)) return given;
  if (/^https?(?::|\/\/)/i.test(given))
    throw usageError(
      `${shownUrl(given)} is no URL: a colon and two slashes are behind http or https.`,
      "Such as https://host/path, or localhost:3000/path for this machine",
    );
  const [, host = "", rest = ""] =
    /^([A-Za-z0-9.-]+|\[[0-9a-f:]+\])(:[0-9]{1,5}(?:\/.*)?|\/.*)$/is.exec(given) ?? [];
  if (host === "") return given;
  const isLocal = /^(?:localhost|127\.[0-9.]+|\[::1\])$/i.test(host);
  return `${isLocal ? "http" : "https"}://${host}${rest}`;
}

/** A text that is no URL, in quotes and without the credentials that it may have. */
export function shownUrl(text: string): string {
  const at = text.lastIndexOf("@");
  if (at < 0) return JSON.stringify(text);
  const slashes = text.indexOf("//");
  const start = slashes >= 0 && slashes < at ? text.slice(0, slashes + 2) : "";
  return JSON.stringify(`${start}…${text.slice(at)}`);
}

/** Whether a text is a URL of http or https with a host. */
export function isHttpUrl(text: string): boolean {
  return /^https?:\/\/[^/]/i.test(text) && URL.canParse(text);
}

export function checkedPort(given: string): string {
  const port = Number(/^:([0-9]{1,5})$/.exec(given)?.[1]);
  if (port >= 1 && port <= 65_535) return given;
  throw usageError(
    `${JSON.stringify(given)} is not a port from 1 to 65535.`,
    "Use :4400 for the local listener on that port, or a URL with https://",
  );
}
