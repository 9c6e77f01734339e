// The verifier of Standard Webhooks.
import { constantTimeEqual, decodeBase64 } from "#hash";
import { ed25519Verifier } from "#signature";
import { utf8 } from "../../core/bytes.js";
import { type Check, type SchemeCheck, schemeChecks } from "../../core/check.js";
import { HookproofError } from "../../core/errors.js";
import { OWN_ID } from "../../core/event.js";
import { parseJson } from "../../core/json.js";
import { checkOptions } from "../../core/options.js";
import { isTimestamp, TIMESTAMP_TOLERANCE_SECONDS } from "../../core/protocol.js";
import { countOf, shown } from "../../core/shown.js";
import { andThen } from "../../core/value-or-promise.js";
import { checkHeader, passAll, TWICE } from "../pass-all.js";
import type { UnverifiedRequest, Verification, Verifier } from "../scheme.js";
import {
  checkSecretOptions,
  type HeaderNames,
  namesOf,
  readKey,
  type StandardWebhooksSecretOptions,
} from "./key.js";
import {
  listOf,
  type StandardWebhooksSecrets,
  signedHead,
  standardWebhooksScheme,
  symmetric,
} from "./sign.js";

/**
 * A request of a time ahead is accepted for twice the tolerance. That must end before the receiver forgets its id, or a
 * recorded request would run again.
 */
const MAX_TOLERANCE_SECONDS = 3 * 86_400;

/** More signatures than this are refused, as each may cost a verification. */
const MAX_SIGNATURES = 16;

function checksOf({ id, timestamp, signature }: HeaderNames): readonly SchemeCheck[] {
  return [
    {
      step: "event-id",
      rule: `${id} is one text of 1 to 256 visible characters, without a full stop`,
      codes: ["EVENT_ID_MISSING", "EVENT_ID_MALFORMED"],
    },
    {
      step: "timestamp",
      rule: `${timestamp} is one Unix time in whole seconds`,
      codes: ["TIMESTAMP_MISSING", "TIMESTAMP_MALFORMED"],
    },
    {
      step: "window",
      rule: "the timestamp is not too far from the server's time",
      codes: ["TIMESTAMP_OUT_OF_WINDOW"],
    },
    {
      step: "signature",
      rule: `${signature} is one list of 1 to ${MAX_SIGNATURES} signatures, such as v1,{base64}; one of them is by a secret of this receiver, over {id}.{timestamp}.{body}`,
      codes: ["SIGNATURE_MISSING", "SIGNATURE_MALFORMED", "SIGNATURE_MISMATCH"],
    },
    { step: "body", rule: "the body is one JSON value in UTF-8", codes: ["BODY_NOT_JSON"] },
  ];
}

/** The checks by their names of the headers, and what makes their results. */
function madeFor(names: HeaderNames) {
  const checks = checksOf(names);
  return { names, checks, ...schemeChecks(checks) };
}

type Made = ReturnType<typeof madeFor>;

/**
 * The verifier for Standard Webhooks: one of the signatures in `webhook-signature` must be by one of these secrets.
 * Signatures of other versions are ignored. A copy of an event that was processed is answered with 200 and not run again.
 *
 * @param options.secrets `whsec_…` for `v1`, `whpk_…` for `v1a`; of several, each is accepted
 * @param options.toleranceSeconds how far the timestamp may be from the receiver's time, in either direction; 300 by default, at most
 * 3 days, as ids are remembered for 7
 * @param options.headerNames `webhook` (the default), `svix` or `x-webhook`: what stands before `-id`. Headers of other names
 * are not looked at
 * @param options.secretForm `prefixed` (the default), `base64` or `raw`
 * @param options.loosePadding whether base64 with wrong padding or last bits is taken
 * @throws {HookproofError} SECRET_INVALID, also for a private key (`whsk_…`), which no receiver needs
 * @throws {RangeError} for a tolerance out of range
 *
 * @example
 * ```ts
 * import { createReceiver } from "hookproof/receiver";
 * import { standardWebhooksVerifier } from "hookproof/standard-webhooks";
 *
 * declare const secret: string; // whsec_… or whpk_…
 *
 * const receiver = createReceiver({ verifier: standardWebhooksVerifier({ secrets: secret }) });
 * const handler = (request: Request) => receiver.handle(request, async (event) => console.log(event.payload));
 * ```
 */
export function standardWebhooksVerifier(options: {
  /** `whsec_…` for `v1`, `whpk_…` for `v1a`; of several, each is accepted. */
  secrets: StandardWebhooksSecrets;
  /** How far the timestamp may be from the receiver's time, in either direction; 300 by default. */
  toleranceSeconds?: number | undefined;
  /** How the headers are named: what stands before `-id`; `webhook` by default. Others are not looked at. */
  headerNames?: "webhook" | "svix" | "x-webhook" | undefined;
  /**
   * How the secrets are written: `prefixed`, by default, with `whsec_`, `whsk_` or `whpk_` and base64; `base64`, that of a
   * shared secret without a prefix; `raw`, a shared secret whose text is the key, letter by letter.
   */
  secretForm?: "prefixed" | "base64" | "raw" | undefined;
  /**
   * Also takes base64 with padding too little or too much, and with bits in its last character that belong to no byte, as
   * secrets have them that were drawn letter by letter.
   */
  loosePadding?: boolean | undefined;
}): Verifier {
  checkOptions("standardWebhooksVerifier", options, {
    secrets: 1,
    toleranceSeconds: "number",
    headerNames: "string",
    secretForm: "string",
    loosePadding: "boolean",
  });
  const { secrets, toleranceSeconds = TIMESTAMP_TOLERANCE_SECONDS, headerNames } = options;
  checkSecretOptions(options);
  if (!(toleranceSeconds >= 0 && toleranceSeconds <= MAX_TOLERANCE_SECONDS))
    throw new RangeError(`toleranceSeconds must be 0 to ${MAX_TOLERANCE_SECONDS}`);
  const made = madeFor(namesOf(headerNames));
  const keys = keysOf(listOf(secrets), options);
  return {
    scheme: standardWebhooksScheme(made.names),
    checks: made.checks,
    answers: { statuses: { EVENT_DUPLICATE: 200 } },
    covers(headers) {
      const [[id, ...ids], [time, ...times]] = [
        headers.all(made.names.id),
        headers.all(made.names.timestamp),
      ];
      if (id === undefined || time === undefined || ids.length + times.length > 0) return undefined;
      return { text: signedHead(id, time), hasBody: true, timestamp: time };
    },
    verify: (request) => verify(request, made, keys, toleranceSeconds),
  };
}

interface Keys {
  readonly symmetric: readonly ReturnType<typeof symmetric>[];
  readonly asymmetric: readonly ReturnType<typeof ed25519Verifier>[];
}

function keysOf(secrets: readonly string[], options: StandardWebhooksSecretOptions): Keys {
  const keys = secrets.map((text) => readKey(text, options));
  if (keys.some(({ kind }) => kind === "private"))
    throw new HookproofError(
      "SECRET_INVALID",
      "The secret is a private key (whsk_), which only signs: a receiver needs its public key, whpk_.",
    );
  const bytesOf = (kind: string) => keys.filter((key) => key.kind === kind).map(({ bytes }) => bytes);
  return {
    symmetric: bytesOf("symmetric").map(symmetric),
    asymmetric: bytesOf("public").map(ed25519Verifier),
  };
}

/** At once where no signature has to be waited for, as a promise costs as much as the rest. */
function verify(
  { headers, body, nowSeconds }: UnverifiedRequest,
  made: Made,
  keys: Keys,
  toleranceSeconds: number,
): Verification | Promise<Verification> {
  const checks: Check[] = [];
  const { names, passed, failed } = made;
  const refused: Verification = { ok: false, checks };
  const ids = headers.all(names.id);
  if (!passAll(checks, [checkHeader(ids, "event-id", "EVENT_ID", seenId, made)])) return refused;
  const timestamps = headers.all(names.timestamp);
  if (!passAll(checks, [checkHeader(timestamps, "timestamp", "TIMESTAMP", seenTime, made)])) return refused;
  const [id = ""] = ids;
  const [timestamp = ""] = timestamps;
  if (!passAll(checks, [checkWindow(timestamp, nowSeconds(), toleranceSeconds, made)])) return refused;
  const ended = (signature: Check): Verification => {
    if (!passAll(checks, [signature])) return refused;
    const parsed = parseJson(body);
    if (
      !passAll(checks, [parsed.ok ? passed("body") : failed("body", "BODY_NOT_JSON", NOT_JSON)]) ||
      !parsed.ok
    )
      return refused;
    return { ok: true, checks, id, timestamp: Number(timestamp), payload: parsed.value };
  };
  const signature = checkSignature(headers.all(names.signature), signedHead(id, timestamp), body, keys, made);
  return andThen(signature, ended);
}

const NOT_JSON = "bytes that are not one JSON value in UTF-8";

/** A full stop in the id would let two texts have one signature. */
function seenId(id: string): string | undefined {
  return OWN_ID.test(id) && !id.includes(".") ? shown(id) : undefined;
}

function seenTime(timestamp: string): string | undefined {
  return isTimestamp(timestamp) ? timestamp : undefined;
}

function checkWindow(
  timestamp: string,
  now: number,
  toleranceSeconds: number,
  { passed, failed }: Made,
): Check {
  const age = now - Number(timestamp);
  if (Math.abs(age) <= toleranceSeconds) return passed("window");
  const seen = `${timestamp}, ${Math.abs(age)} s ${age > 0 ? "in the past" : "in the future"}`;
  return failed("window", "TIMESTAMP_OUT_OF_WINDOW", seen, `at most ${toleranceSeconds} s`);
}

function checkSignature(
  lists: readonly string[],
  head: string,
  body: Uint8Array,
  { symmetric: shared, asymmetric }: Keys,
  { passed, failed }: Made,
): Check | Promise<Check> {
  const list = lists[0];
  if (list === undefined) return failed("signature", "SIGNATURE_MISSING", "nothing");
  if (lists.length > 1) return failed("signature", "SIGNATURE_MALFORMED", TWICE);
  const signatures = list.split(" ", MAX_SIGNATURES + 1);
  if (signatures.length > MAX_SIGNATURES)
    return failed("signature", "SIGNATURE_MALFORMED", `more than ${MAX_SIGNATURES} signatures`);
  const [v1, v1a] = [ofVersion("v1,", signatures), ofVersion("v1a,", signatures)];

  let matches = false;
  for (const signatureBy of v1.length > 0 ? shared : []) {
    const expected = signatureBy(head, body);
    // No early exit: the time must not show which secret or which signature matches.
    for (const one of v1) if (constantTimeEqual(expected, one)) matches = true;
  }
  if (matches) return passed("signature", "v1");
  const refused = () => {
    const isUsable = (shared.length > 0 && v1.length > 0) || (asymmetric.length > 0 && v1a.length > 0);
    if (isUsable)
      return failed(
        "signature",
        "SIGNATURE_MISMATCH",
        `${countOf(signatures.length, "signature")}, none by a secret of this receiver`,
      );
    const wanted = [shared.length > 0 ? "v1" : [], asymmetric.length > 0 ? "v1a" : []].flat().join(" or ");
    return failed(
      "signature",
      "SIGNATURE_MALFORMED",
      shown(versionsOf(signatures), 40),
      `${wanted},{base64}`,
    );
  };
  if (v1a.length === 0 || asymmetric.length === 0) return refused();
  const found = isSignedByOne(asymmetric, v1a, [utf8(head), body]);
  const result = (isSigned: boolean) => (isSigned ? passed("signature", "v1a") : refused());
  return andThen(found, result);
}

function ofVersion(prefix: string, signatures: readonly string[]): readonly string[] {
  return signatures.filter((one) => one.startsWith(prefix)).map((one) => one.slice(prefix.length));
}

/** The versions of signatures. What has no comma may be a signature, which is not to be shown. */
function versionsOf(signatures: readonly string[]): string {
  return [...new Set(signatures.map((one) => /^[^,]{0,8}(?=,)/.exec(one)?.[0] ?? "no version"))].join(" ");
}

/** Tries each signature with each key, one after the other. */
function isSignedByOne(
  keys: Keys["asymmetric"],
  signatures: readonly string[],
  parts: readonly Uint8Array[],
): boolean | Promise<boolean> {
  const tries = signatures
    .map(decodeBase64)
    .flatMap((bytes) => (bytes?.length === 64 ? keys.map((key) => () => key(bytes, ...parts)) : []));
  const from = (first: number): boolean | Promise<boolean> => {
    for (let index = first; index < tries.length; index++) {
      const found = tries[index]?.();
      if (found instanceof Promise) return found.then((isSigned) => isSigned || from(index + 1));
      if (found) return true;
    }
    return false;
  };
  return from(0);
}
