// Everything the page shows of a request.
import { createHash } from "node:crypto";
import type { HmacDetail, RequestDetail, RunDetail, SignedDetail } from "./contract.js";
import { type Entry, headerValues, onlyHeader } from "./entry.js";
import { stepsOf } from "./steps.js";
import { tokenDetail } from "./token-detail.js";

/** What a detail needs besides the entry itself. */
interface Surroundings {
  /** Where the request went. */
  readonly url: string;
  readonly first: Entry | undefined;
  readonly run: RunDetail | undefined;
  /** What it was signed over, by another scheme. */
  readonly signed?: SignedDetail | undefined;
  readonly isRestored: boolean;
}

export function detailOf(entry: Entry, { url, first, run, signed, isRestored }: Surroundings): RequestDetail {
  const {
    row,
    headers,
    body,
    target,
    sourceAddress,
    checks,
    mistakes = [],
    masked,
    answer,
    forwarded,
  } = entry;
  const timestamp = onlyHeader(headers, "Webhook-Timestamp");
  const hmac = hmacDetail(entry);
  const token = tokenDetail(entry);
  return {
    ...row,
    ...(isRestored ? { restored: true } : {}),
    target,
    url,
    ...(sourceAddress === undefined ? {} : { sourceAddress }),
    headers,
    bodyBase64: base64(body),
    bodySha256: createHash("sha256").update(body).digest("hex"),
    ...(masked ? { masked } : {}),
    ...(timestamp !== undefined && /^[0-9]{1,15}$/.test(timestamp) ? { timestamp: Number(timestamp) } : {}),
    steps: stepsOf(checks, { auth: row.auth, demanded: entry.demanded }),
    mistakes,
    ...(hmac ? { hmac } : {}),
    ...(signed ? { signed } : {}),
    ...(token ? { token } : {}),
    ...(first ? { first: { n: first.row.n, at: first.row.at, bodyBase64: base64(first.body) } } : {}),
    ...(run ? { run } : {}),
    ...(forwarded ? { forwarded } : {}),
    answer,
  };
}

function hmacDetail({ row, headers, body, demanded }: Entry): HmacDetail | undefined {
  const signatures = headerValues(headers, "Webhook-Signature");
  if (demanded?.auth !== "hmac" && (row.scheme !== undefined || signatures.length === 0)) return undefined;
  const [received, ...more] = signatures;
  const [timestamp, eventId] = ["Webhook-Timestamp", "Webhook-Event-Id"].map((name) =>
    onlyHeader(headers, name),
  );
  // Of a body that was cut nobody can tell what it should have been signed with.
  const expected = demanded?.auth === "hmac" && !row.isCut ? demanded.expected : undefined;
  const isOne = received !== undefined && more.length === 0;
  const difference = isOne && expected !== undefined ? firstDifference(received, expected) : undefined;
  return {
    ...(timestamp === undefined || eventId === undefined || row.isCut
      ? {}
      : { canonicalBase64: base64(Buffer.concat([Buffer.from(`${timestamp}.${eventId}.`), body])) }),
    ...(isOne ? { received } : {}),
    ...(expected === undefined ? {} : { expected }),
    ...(difference === undefined ? {} : { firstDifference: difference }),
    secretFingerprints: demanded?.auth === "hmac" ? demanded.secretFingerprints : [],
  };
}

function firstDifference(received: string, expected: string): number | undefined {
  if (received === expected) return undefined;
  const at = [...expected].findIndex((character, index) => character !== received[index]);
  return at < 0 ? expected.length : at;
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("base64");
}
