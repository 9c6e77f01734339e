// The errors that become answers of the API.
/** What is wrong with a field of a request. */
export interface FieldViolation {
  /** The path of the field, such as `profileFilters[0].values`. */
  readonly field: string;
  readonly description: string;
}

/** Names of google.rpc.Code, with their number and the HTTP status that goes with them. */
const CODES = {
  "invalid-argument": { code: 3, status: 400 },
  "not-found": { code: 5, status: 404 },
  "already-exists": { code: 6, status: 409 },
  "permission-denied": { code: 7, status: 403 },
  "resource-exhausted": { code: 8, status: 429 },
  "too-large": { code: 8, status: 413 },
  "media-type": { code: 3, status: 415 },
  "method-not-allowed": { code: 12, status: 405 },
  internal: { code: 13, status: 500 },
  unavailable: { code: 14, status: 503 },
  unauthenticated: { code: 16, status: 401 },
} as const;

/** What kind of error an answer tells of. */
type ErrorKind = keyof typeof CODES;

/** An error that becomes the answer to a request. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly kind: ErrorKind;
  readonly status: number;
  readonly violations: readonly FieldViolation[];
  /** The error code of a Bearer challenge (RFC 6750 section 3.1), for a token that was sent and is not good. */
  readonly challenge: "invalid_token" | undefined;

  constructor(
    kind: ErrorKind,
    message: string,
    violations: readonly FieldViolation[] = [],
    { challenge }: { challenge?: "invalid_token" | undefined } = {},
  ) {
    super(message);
    this.challenge = challenge;
    this.kind = kind;
    this.status = CODES[kind].status;
    this.violations = violations;
  }
}

/** 400 for one field. */
export function invalidField(field: string, description: string): ApiError {
  return new ApiError("invalid-argument", `${field} ${description}`, [{ field, description }]);
}

/** 404 for a resource that is named in the path. */
export function notFound(what: string): ApiError {
  return new ApiError("not-found", `There is no such ${what}.`);
}

/** The detail of an error that names its request. */
export function requestInfo(requestId: string): object {
  return { "@type": "type.googleapis.com/google.rpc.RequestInfo", requestId };
}

/** The body of an error answer, in the form of google.rpc.Status. */
export function statusBody(error: ApiError, requestId: string): object {
  const info = requestInfo(requestId);
  const bad = {
    "@type": "type.googleapis.com/google.rpc.BadRequest",
    fieldViolations: error.violations,
  };
  return {
    code: CODES[error.kind].code,
    message: error.message,
    details: error.violations.length > 0 ? [bad, info] : [info],
  };
}
