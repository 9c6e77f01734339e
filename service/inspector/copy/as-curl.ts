// A request as a curl command.
import type { RequestDetail } from "../../src/inspector/contract.js";
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
