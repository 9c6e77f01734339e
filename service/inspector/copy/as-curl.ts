// A request as a curl command.
import { type CallDetail, LIMITS, type RequestDetail } from "../../src/inspector/contract.js";
import { decode, fromBase64 } from "../text/bytes.js";
import { hasHidden } from "../text/visible.js";
import { shellQuoted } from "./shell-quoted.js";

/** What belongs to a connection, and what curl makes itself. */
const OF_CONNECTION = new Set([
  "host",
  "connection",
  "content-length",
  "transfer-encoding",
  "keep-alive",
  "expect",
]);

/** A curl command that sends the request again to the letter: the same header lines, the same bytes. */
export function asCurl({ method, url, headers, bodyBase64 }: RequestDetail): string {
  const body = pasteable(fromBase64(bodyBase64));
  const sent = headers.filter(([name]) => !OF_CONNECTION.has(name.toLowerCase()));
  const lines = [
    "curl -sS -i -g --path-as-is",
    ...(method === "POST" ? [] : [`-X ${shellQuoted(method)}`]),
    ...sent.map(([name, value]) => `-H ${bytesQuoted(value === "" ? `${name};` : `${name}: ${value}`)}`),
    // Lines that curl would add by itself.
    ...["Accept", "User-Agent", "Content-Type"]
      .filter((name) => !sent.some(([other]) => other.toLowerCase() === name.toLowerCase()))
      .map((name) => `-H '${name}:'`),
    body === undefined ? "--data-binary @-" : `--data-raw ${shellQuoted(body)}`,
    shellQuoted(url),
  ];
  const command = lines.join(" \\\n  ");
  return body === undefined ? `printf %s ${bodyBase64} | base64 -d | ${command}` : command;
}

/**
 * A curl command that makes a call of the API again with a token of its own, as tokens are not kept; undefined where
 * the body is not kept as it was sent, or something has characters that are not seen.
 */
export function callAsCurl(call: CallDetail, listeners: string | undefined): string | undefined {
  const { method, target, headers, body } = call;
  const headerOf = (wanted: string) => headers.find(([name]) => name.toLowerCase() === wanted)?.[1] ?? "";
  // The command hands a secret over for the token: a stranger's header may name no other machine.
  const host = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/.exec(headerOf("host"))?.[0];
  const origin = listeners ?? (host && `http://${host}`);
  if (!origin || !/^[A-Z]{1,12}$/.test(method)) return undefined;
  if (hasHidden(target) || hasHidden((body ?? "").replaceAll("\n", ""))) return undefined;
  const isWhole =
    /\bjson\b/i.test(headerOf("content-type")) && (body ?? "").length < LIMITS.callBodyCharacters;
  if (body !== undefined && !isWhole) return undefined;
  const usual = body === undefined ? "GET" : "POST";
  return [
    "curl -sS -i -g --path-as-is",
    ...(method === usual ? [] : [method === "HEAD" ? "--head" : `-X ${method}`]),
    ...(headerOf("authorization") === ""
      ? []
      : [`-H "Authorization: Bearer $(hookproof service token --base-url ${shellQuoted(origin)})"`]),
    ...(body === undefined ? [] : ["-H 'Content-Type: application/json'", `--data-raw ${shellQuoted(body)}`]),
    shellQuoted(origin + target),
  ].join(" \\\n  ");
}

/** A header line as one word of bash: what is no ASCII as the bytes that came, so that none of it acts in a terminal. */
function bytesQuoted(line: string): string {
  if (/^[ -~]*$/.test(line)) return shellQuoted(line);
  const escaped = line.replace(/[\\']|[^ -~]/gu, (one) => {
    const code = one.codePointAt(0) ?? 0;
    if (code > 0xff) return `\\U${code.toString(16).padStart(8, "0")}`;
    return code < 0x7f && code >= 0x20 ? `\\${one}` : `\\x${code.toString(16).padStart(2, "0")}`;
  });
  return `$'${escaped}'`;
}

/** The text of a body that survives a terminal; nothing that would act in one goes through as text. */
export function pasteable(bytes: Uint8Array): string | undefined {
  const parts = decode(bytes);
  const [text = ""] = parts;
  if (parts.length > 1 || typeof text !== "string") return undefined;
  return hasHidden(text.replaceAll("\n", "")) ? undefined : text;
}
