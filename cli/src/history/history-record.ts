/** Where the secret or key of a request came from, so that a replay can sign again; never the secret itself. */
export type CredentialReference =
  | { readonly kind: "session"; readonly port: number }
  | { readonly kind: "secret-files"; readonly files: readonly string[] }
  | { readonly kind: "environment"; readonly fingerprint?: string }
  | { readonly kind: "profile"; readonly profile: string; readonly project?: string | undefined }
  | { readonly kind: "key"; readonly key: string; readonly store: string; readonly baseUrl?: string };

/** A request with its event, as it is recorded and exported. */
export interface RecordedRequest {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly eventId: string;
  readonly url: string;
  readonly method: "hmac" | "jwt";
  /** The headers of the first attempt, for a replay to the letter. */
  readonly headers: Readonly<Record<string, string>>;
  readonly bodyBase64: string;
  /** The answer's status; none when there was no answer. */
  readonly status?: number;
  /** `accepted`, `duplicate`, or the code of the failure. */
  readonly outcome: string;
}

/** One event that was sent, as it is kept for 7 days. */
export interface HistoryRecord extends RecordedRequest {
  readonly v: 1;
  readonly credential: CredentialReference;
}

const CREDENTIAL_KINDS = ["session", "secret-files", "environment", "profile", "key"];

/** Whether an event arrived, as far as its record says. */
export function hasArrived({ outcome }: RecordedRequest): boolean {
  return outcome === "accepted" || outcome === "duplicate";
}

/** A line of the history; undefined when it is not one. */
export function parseHistoryLine(line: string): HistoryRecord | undefined {
  const value = jsonOf(line);
  if (!isRequest(value) || value.v !== 1) return undefined;
  const { credential } = value as { credential?: { kind?: unknown } };
  return CREDENTIAL_KINDS.includes(String(credential?.kind))
    ? (value as unknown as HistoryRecord)
    : undefined;
}

/** An exported event. Where its secret came from is not believed: whoever wrote the file could name any. */
export function parseExport(text: string): RecordedRequest | undefined {
  const value = jsonOf(text);
  if (!isRequest(value)) return undefined;
  const { at, eventId, url, method, headers, bodyBase64, status, outcome } =
    value as unknown as RecordedRequest;
  return {
    at,
    eventId,
    url,
    method,
    headers,
    bodyBase64,
    outcome,
    ...(status === undefined ? {} : { status }),
  };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isRequest(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  const { at, eventId, url, method, headers, bodyBase64, outcome } = value as Record<string, unknown>;
  return (
    typeof at === "number" &&
    [eventId, url, bodyBase64, outcome].every((text) => typeof text === "string") &&
    (method === "hmac" || method === "jwt") &&
    typeof headers === "object" &&
    headers !== null &&
    Object.values(headers).every((text) => typeof text === "string")
  );
}
