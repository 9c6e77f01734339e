// Writes a request as a curl command.
import { shellQuoted } from "../shell-word.js";

/** A curl command that sends exactly this request; the body travels as it is, byte for byte. */
export function curlCommand({
  url,
  headers,
  body,
}: {
  url: string;
  headers: Readonly<Record<string, string>>;
  body: Uint8Array;
}): string {
  const lines = Object.entries(headers).map(([name, value]) => `-H ${shellQuoted(`${name}: ${value}`)}`);
  const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(body);
  return ["curl -sS -i", ...lines, `--data-binary ${shellQuoted(text)}`, shellQuoted(url)].join(" \\\n  ");
}
