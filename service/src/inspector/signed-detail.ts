// What a request of another scheme than the service's own was signed over, and what should have come.
import type { SchemeListener } from "../server/webhook-router.js";
import type { SignedDetail } from "./contract.js";
import { type Entry, headerValues, onlyHeader } from "./entry.js";

/**
 * What the signature covers, and the header lines that the listener's own signer makes for the same id, time and body;
 * by a secret alone, as a signature by a key may be another one each time.
 */
export async function signedDetail(
  { verifier, signer, secrets = [] }: SchemeListener,
  url: string,
  { row, headers, body, masked }: Entry,
): Promise<SignedDetail | undefined> {
  if (row.isCut) return undefined;
  const covered = verifier.covers?.({ all: (name) => headerValues(headers, name) });
  if (!covered) return undefined;
  const { eventId } = row;
  const { timestamp } = covered;
  const isTold = eventId !== undefined && /^[0-9]{1,15}$/.test(timestamp) && !masked;
  const signed =
    signer && secrets.length > 0 && isTold
      ? await Promise.resolve()
          .then(() => signer.sign({ url, timestamp, eventId, body }))
          .catch(() => undefined) // an id that the signer does not take
      : undefined;
  const lines = (signed?.headers ?? []).map(([name, expected]) => {
    const received = onlyHeader(headers, name);
    return { name, expected, ...(received === undefined ? {} : { received }) };
  });
  const bytes = Buffer.concat([Buffer.from(covered.text), covered.hasBody ? body : new Uint8Array()]);
  return { coveredBase64: bytes.toString("base64"), lines };
}
