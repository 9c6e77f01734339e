// A sent event as a line of the history, written and read.
import { validateHeaderName, validateHeaderValue } from "node:http";
import { CliError, EXIT } from "../failure.js";
import { readText } from "../files/files.js";
import type { Io } from "../io.js";
import type { SchemeSettings } from "../schemes/schemes.js";

/** Where the secret or key of a request came from, so that a replay can sign again; never the secret itself. */
export type CredentialReference =
  | { readonly kind: "session"; readonly port: number }
  | { readonly kind: "secret-files"; readonly files: readonly string[] }
  | { readonly kind: "environment"; readonly fingerprint?: string }
  | { readonly kind: "profile"; readonly profile: string; readonly project?: string | undefined }
  | {
      readonly kind: "key";
      readonly key: string;
      readonly store: string;
      readonly baseUrl?: string;
      /** Of a key file that has none itself. */
      readonly kid?: string;
    };

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
  /** The bytes that were sent, where the proof is in them: the token of a security event. */
  readonly sentBase64?: string;
  /** The scheme, where it was not the service's own. */
  readonly scheme?: SchemeSettings;
  /** The answer's status; none when there was no answer. */
  readonly status?: number;
  /** `accepted`, `duplicate`, or the code of the failure. */
  readonly outcome: string;
  /** The beginning of the answer that refused it; see `AttemptRecord`. */
  readonly answer?: string;
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
  return typeof credential?.kind === "string" && CREDENTIAL_KINDS.includes(credential.kind)
    ? (value as unknown as HistoryRecord)
    : undefined;
}

/** An exported event. It names no secret of its own: the author of the file could name any file of this user. */
function parseExport(text: string): RecordedRequest | undefined {
  const value = jsonOf(text);
  if (!isRequest(value)) return undefined;
  const { at, eventId, url, method, headers, bodyBase64, sentBase64, scheme, status, outcome } =
    value as unknown as RecordedRequest;
  return {
    at,
    eventId,
    url,
    method,
    headers,
    bodyBase64,
    outcome,
    ...(sentBase64 === undefined ? {} : { sentBase64 }),
    ...(scheme === undefined ? {} : { scheme }),
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
  const { at, eventId, url, method, headers, bodyBase64, outcome, sentBase64, scheme, status, answer } =
    value as Record<string, unknown>;
  return (
    typeof at === "number" &&
    !Number.isNaN(new Date(at).getTime()) &&
    (status === undefined || Number.isInteger(status)) &&
    (answer === undefined || typeof answer === "string") &&
    [eventId, url, bodyBase64, outcome].every((text) => typeof text === "string") &&
    (method === "hmac" || method === "jwt") &&
    isTexts(headers) &&
    (sentBase64 === undefined || typeof sentBase64 === "string") &&
    (scheme === undefined || (isTexts(scheme) && "name" in scheme))
  );
}

/** Whether a value is an object whose members are texts. */
function isTexts(value: unknown): value is object {
  return (
    typeof value === "object" &&
    value !== null &&
    Object.values(value).every((text) => typeof text === "string")
  );
}

/** Where the secret or key of a recorded event came from, in words. */
export function describeCredential(credential: CredentialReference): string {
  switch (credential.kind) {
    case "session":
      return `secret of the local listener on port ${credential.port}`;
    case "secret-files":
      return `secret in ${credential.files.join(", ")}`;
    case "environment":
      return `secret in HOOKPROOF_SECRET${credential.fingerprint ? ` (${credential.fingerprint}…)` : ""}`;
    case "profile":
      return `stored secret of profile ${credential.profile}${credential.project ? ` of ${credential.project}` : ""}`;
    case "key":
      return `key ${credential.key} in ${credential.store}`;
  }
}

/** An event that `events export` has written, from a file or standard input. */
export async function readExport(io: Io, path: string): Promise<RecordedRequest> {
  const event = parseExport(await readText(io, path));
  const reason = event ? oddity(event) : "is not an exported event";
  if (event && reason === undefined) return event;
  throw new CliError(EXIT.setup, "EXPORT_INVALID", `${path === "-" ? "Standard input" : path} ${reason}.`, {
    hint: "Write one with: hookproof events export last",
  });
}

/** What no sent request can contain; undefined if there is nothing of the kind. */
function oddity({ url, headers }: RecordedRequest): string | undefined {
  if (!/^https?:\/\//.test(url) || !URL.canParse(url))
    return `has the URL ${JSON.stringify(url)}, which is none`;
  for (const [name, value] of Object.entries(headers))
    try {
      validateHeaderName(name);
      validateHeaderValue(name, value);
    } catch {
      return `has a header ${JSON.stringify(name.slice(0, 80))} that cannot be sent`;
    }
  return undefined;
}
