// Hides secrets in an entry byte for byte.
import type { Check } from "hookproof/receiver";
import type { Forwarded } from "./contract.js";
import type { Draft } from "./record-request.js";

/** A shorter text stands in requests by chance. */
const TELLING_LENGTH = 8;

/**
 * The entry with asterisks in place of every secret that somebody sent along, byte for byte; the entry itself
 * where there is none. What is kept, shown and exported must not hold a signing secret.
 */
export function withoutSecrets(entry: Draft, secrets: readonly string[]): Draft {
  const maskable = secrets.filter((secret) => secret.length >= TELLING_LENGTH);
  const body = maskedBytes(entry.body, maskable);
  const forwarded = JSON.stringify(entry.forwarded ?? "");
  const isInHeaders = maskable.some((secret) =>
    [forwarded, entry.target, ...entry.headers.flat()].some((text) => text.includes(secret)),
  );
  if (body === entry.body && !isInHeaders) return entry;
  const mask = (text: string) =>
    maskable.reduce((masked, secret) => masked.replaceAll(secret, "*".repeat(secret.length)), text);
  return {
    ...entry,
    row: entry.row.eventId === undefined ? entry.row : { ...entry.row, eventId: mask(entry.row.eventId) },
    target: mask(entry.target),
    headers: entry.headers.map(([name, value]) => [mask(name), mask(value)]),
    body,
    ...(entry.forwarded ? { forwarded: maskedForwarded(entry.forwarded, mask) } : {}),
    // A check that saw the secret shows the beginning of it at most.
    checks: entry.checks.map((check) => withoutSeen(check, maskable)),
    masked: true,
  };
}

function maskedForwarded(answer: Forwarded, mask: (text: string) => string): Forwarded {
  const url = mask(answer.url);
  if ("error" in answer) return { url, error: mask(answer.error) };
  return { ...answer, url, ...(answer.body === undefined ? {} : { body: mask(answer.body) }) };
}

function maskedBytes(body: Uint8Array, secrets: readonly string[]): Uint8Array {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.length);
  let masked: Buffer | undefined;
  for (const secret of secrets) {
    const needle = Buffer.from(secret);
    for (let at = bytes.indexOf(needle); at >= 0; at = bytes.indexOf(needle, at + needle.length)) {
      masked ??= Buffer.from(bytes);
      masked.fill("*", at, at + needle.length);
    }
  }
  return masked ?? body;
}

function withoutSeen({ seen, ...check }: Check, secrets: readonly string[]): Check {
  const showsOne = secrets.some((secret) => seen?.includes(secret.slice(0, TELLING_LENGTH)));
  return seen === undefined || showsOne ? check : { ...check, seen };
}
