import type { Jwks } from "../jwks/key-set.js";
import { bodyBytes } from "../primitives/bytes.js";
import { type Clock, systemClock, unixSeconds } from "../primitives/clock.js";
import { type HeadersInput, receivedHeaders } from "../protocol/headers.js";
import { AGEING } from "./causes.js";
import { explainCredential, type KnownListener } from "./explain-credential.js";
import { explainAge, explainBody, explainHeaders } from "./explain-headers.js";
import { explainTarget } from "./explain-target.js";
import type { Finding, Mistake } from "./mistake.js";

/** A mistake that explains why a request is refused. */
export interface Cause {
  /** A stable name, such as `secret-base64url-decoded`; `causes` lists them all. */
  readonly id: string;
  /** What is wrong, in plain words. */
  readonly message: string;
  /** What to change, with code. */
  readonly fix: string;
}

/** What a diagnosis found, likeliest first; no cause means that nothing is wrong as far as can be seen. */
export interface Diagnosis {
  readonly causes: readonly Cause[];
}

/** A failing request, and what the caller knows. The more is known, the more can be named. */
export interface DiagnoseInput {
  request: {
    method?: string | undefined;
    url?: string | undefined;
    headers: HeadersInput;
    /** The body as received; a text stands for its UTF-8 bytes. */
    body?: string | Uint8Array | undefined;
  };
  /** The secret's text as the service shows it; several where more than one may have been used. */
  secret?: string | readonly string[] | undefined;
  /** Where the request was meant to go. With secrets of its own, those of `secret` are only tried. */
  listener?: KnownListener | undefined;
  /** The key set, as served. With it, a key that a token names wrongly is found too. */
  jwks?: Jwks | undefined;
  /** The time the request is judged by; the machine's by default. */
  clock?: Clock | undefined;
}

/**
 * Looks for the mistakes that explain why a request is refused (specification 4.10, 5.2 and 7). A signature is
 * recomputed the way people get it wrong, one mistake or several at once, until it matches; a token is taken
 * apart claim by claim. For tools and developers: verification never uses it.
 *
 * What a diagnosis says holds no secret, no whole signature and no token. It takes about 10 ms of computing
 * for a body of 1 KB and 100 ms for 64 KB at most (on Node), so it is not for every request of a stranger.
 *
 * @throws {TypeError} for a request without headers, or a body or secret of another type
 *
 * @example
 * ```ts
 * import { diagnose } from "hookproof/diagnose";
 *
 * const { causes } = await diagnose({
 *   request: {
 *     headers: {
 *       "Content-Type": "application/json",
 *       "Webhook-Timestamp": "1767225600",
 *       "Webhook-Event-Id": "0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10",
 *       "Webhook-Signature": "5IR7O7M7coTagTYFSQcd_pWFTM8MOOcTqzRb4CF0BqA",
 *     },
 *     body: '{"type":"user.offboarded","userId":"u_123"}',
 *   },
 *   secret: "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8",
 * });
 * causes[0]?.id; // "secret-base64url-decoded"
 * ```
 */
export async function diagnose(input: DiagnoseInput): Promise<Diagnosis> {
  const { request, clock = systemClock } = input;
  if (typeof request?.headers !== "object" || request.headers === null)
    throw new TypeError("request.headers must be a Headers object, pairs or a record");
  const { body: given = "" } = request;
  if (typeof given !== "string" && !(given instanceof Uint8Array))
    throw new TypeError("request.body must be the exact text or bytes (string or Uint8Array)");
  const headers = receivedHeaders(request.headers);
  const body = bodyBytes(given);
  const nowSeconds = unixSeconds(clock);
  const findings = [
    ...explainTarget(request, input.listener?.id),
    ...explainHeaders(headers),
    ...(await explainCredential(
      { url: request.url, headers, body, nowSeconds },
      { secret: input.secret, listener: input.listener, jwks: input.jwks },
    )),
    ...explainBody(body),
    ...explainAge(headers, nowSeconds),
  ];
  return { causes: ranked(findings).map(causeOf) };
}

/** What may simply have grown old since the request was recorded comes last. */
function ranked(findings: readonly Finding[]): readonly Finding[] {
  const isAgeing = ({ mistake }: Finding) => AGEING.has(mistake);
  return [...findings.filter((one) => !isAgeing(one)), ...findings.filter(isAgeing)];
}

function causeOf({ mistake, detail }: Finding): Cause {
  const { id, message, fix }: Mistake = mistake;
  return { id, message: detail === undefined ? message : `${message} ${detail}`, fix };
}
