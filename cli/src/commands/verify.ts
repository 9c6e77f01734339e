// The command that verifies a captured request and explains why it fails.
import type { Mistake } from "hookproof/diagnose";
import type { Check, ListenerOptions, Rejection, Verdict } from "hookproof/receiver";
import { headerOf, originOf, parseCaptured, parseHeaders, withoutBody } from "../capture/captured-request.js";
import { type CapturedRequest, judged } from "../capture/raw-request.js";
import { ownTime, timesOfToken } from "../capture/request-time.js";
import type { Args, Command, Context } from "../command.js";
import { nextStep } from "../config/next-step.js";
import { INGESTION_PATH, LISTENER_ID } from "../config/settings.js";
import { type FoundSecrets, fingerprintsOf } from "../credentials/origin-rule.js";
import { findSecrets, sourceOf } from "../credentials/secrets.js";
import { shownUrl } from "../credentials/typed-target.js";
import { CliError, EXIT, usageError } from "../failure.js";
import { readAll, readBytes } from "../files/files.js";
import { withoutMark } from "../input/text.js";
import type { Io } from "../io.js";
import { keySetOf, keysFrom, type ReadKeySet } from "../keys/keys.js";
import {
  type ChosenScheme,
  configuredScheme,
  madeWith,
  mistakesBehind,
  requireProof,
  SCHEME_EXAMPLES,
  SCHEME_FLAGS,
  schemeOf,
} from "../schemes/chosen-scheme.js";
import type { Verifying } from "../schemes/schemes.js";
import { wordOf } from "../shell-word.js";
import { pointInTime } from "../times.js";

export const verify: Command = {
  name: "verify",
  details:
    "The checks are those of the service. Captures: HTTP as on the wire, HTTP/2 with pseudo headers, Wireshark's Follow Stream, hex dumps, curl commands (sh, cmd), curl --trace, --trace-ascii, -v (with --body), fetch and PowerShell copies, HAR, exports of hookproof, webhook.site, ngrok and Postman, events of AWS Lambda, JSON with headers and a body. What a form loses is said, and not taken for a mistake.",
  positionals: [
    {
      name: "file",
      required: false,
      describe: "a captured request, in any of the forms above; - for standard input",
      completes: "file",
    },
  ],
  flags: {
    "secret-file": {
      type: "string",
      value: "<path|->",
      repeatable: true,
      describe: "the listener's secret; several during a rotation",
    },
    ...SCHEME_FLAGS,
    jwks: { type: "string", value: "<url|file>", describe: "the key set, for a request with a token" },
    url: { type: "string", value: "<listener url>", describe: "the listener's URL; tokens need it" },
    headers: { type: "string", value: "<@file>", describe: "header lines, with --body instead of a file" },
    body: { type: "string", value: "<@file>", describe: "the body's bytes" },
    sent: {
      type: "string",
      value: "<file|->",
      describe: "with --received: the request as it was sent; says what was changed on the way",
    },
    received: { type: "string", value: "<file|->", describe: "with --sent: the request as it arrived" },
    at: {
      type: "string",
      value: "<time>",
      describe: "check as if it were that time: Unix seconds or a date",
    },
    "ignore-time": {
      type: "boolean",
      describe: "leave the request's age out: a time in another form, or ahead, is refused as ever",
    },
    diagnose: {
      type: "boolean",
      negated: true,
      describe: "do not look for the mistakes behind a refusal",
    },
  },
  examples: [
    ["hookproof verify captured.http --secret-file secret.txt", "a captured request against the secret"],
    [
      "hookproof verify --headers @headers.txt --body @body.json --secret-file secret.txt --ignore-time",
      "the same from its parts, however old",
    ],
    ["hookproof events export last | hookproof verify - --secret-file secret.txt", "what was sent last"],
    SCHEME_EXAMPLES.verify,
    ["hookproof verify --sent sent.http --received received.http", "what a proxy on the way changed"],
  ],
  exits: [
    [3, "secret or file missing, the key set cannot be read, or the capture is not whole"],
    [7, "the service would refuse the request, or the way changed it"],
  ],
  async run(context) {
    const { args, io } = context;
    if (args.text("sent") !== undefined || args.text("received") !== undefined)
      return (await import("../capture/compare-captures.js")).compareCaptures(context);
    const captured = await capturedRequest(args, io);
    const { doubt, ...request } = captured;
    const scheme = schemeOf(args, configuredScheme(context.config));
    if (scheme) return verifyBy(scheme, context, captured);
    const { secret, keySet, isUrlKnown, ...listener } = await listenerFor(context, request);
    const url = `${listener.baseUrl}${INGESTION_PATH}${listener.id}`;
    const at = checkTime(args, [headerOf(request, "webhook-timestamp"), ...timesOfToken(tokenIn(request))]);
    const clock = { now: () => at };
    const { createReceiver } = await import("hookproof/receiver");
    const receiver = createReceiver({ listener, clock, allowDocumentedSecret: true });
    const verdict = await receiver.verify({ ...request, url });
    const looks = !verdict.ok && (!args.isGiven("diagnose") || args.flag("diagnose"));
    const mistakes = looks
      ? (
          await (
            await import("hookproof/diagnose")
          ).diagnose({
            ...covered(request, url, listener, isUrlKnown),
            clock,
            jwks: await keySet?.document(),
          })
        ).mistakes
      : [];
    const judgement = judgementOf(verdict, mistakes, doubt);
    print(context, judgement, secret);
    return exitOf(judgement);
  },
};

/** Checks a request by another scheme than the service's own. */
async function verifyBy(scheme: ChosenScheme, context: Context, request: CapturedRequest): Promise<number> {
  const { args } = context;
  const { found, keySet, verifying } = await verifyingOf(scheme, context, request);
  const verifier = await madeWith(scheme, () => scheme.verifier(verifying));
  const at = checkTime(args, scheme.signedAt(request));
  const { method, target, headers, body } = request;
  // Parts of a request do not say its path.
  const url = args.isGiven("headers") ? (verifying.url ?? target) : target;
  const { createReceiver } = await import("hookproof/receiver");
  const receiver = createReceiver({ verifier, clock: { now: () => at } });
  const verdict = await receiver.verify({ method, url, headers, body });
  const looks = !verdict.ok && (!args.isGiven("diagnose") || args.flag("diagnose"));
  const jwks = await keySet?.document();
  const mistakes = looks ? await mistakesBehind(scheme, request, { ...verifying, jwks }, at) : [];
  const judgement = judgementOf(verdict, mistakes, request.doubt);
  print(context, judgement, found && usedSecret(found, context), {
    who: `A receiver of ${scheme.title}`,
    accepted: verifier.answers?.accepted,
  });
  return exitOf(judgement);
}

/** What a scheme verifies with, from the flags. */
async function verifyingOf(
  scheme: ChosenScheme,
  context: Context,
  { target }: CapturedRequest,
): Promise<{ found?: FoundSecrets; keySet?: ReadKeySet; verifying: Verifying }> {
  const { args, io } = context;
  const [jwks, name] = [keySetOf(context), `--scheme ${scheme.settings.name}`];
  const isByKey = jwks !== undefined || !scheme.proofs.includes("secret");
  requireProof(scheme, isByKey ? "key" : "secret");
  const url = args.text("url") ?? (target.startsWith("http") ? target : ownUrl(scheme, context));
  if (scheme.bindsUrl && url === undefined)
    throw usageError(
      `${name} needs --url: the signature covers the URL, and a raw request has only its path.`,
    );
  if (url !== undefined && !URL.canParse(url)) throw usageError(`--url is not a URL: ${shownUrl(url)}.`);
  if (!scheme.bindsUrl && args.isGiven("url")) throw usageError(`--url is not for ${name}.`);
  if (isByKey && jwks === undefined)
    throw new CliError(EXIT.setup, "SECRET_MISSING", `${name} needs the sender's key set.`, {
      hint: "Give it with --jwks <url|file>.",
    });
  if (jwks !== undefined) {
    const keySet = await keysFrom(io, jwks);
    return { keySet, verifying: { ...scheme.settings, url, keys: keySet.keys } };
  }
  const found = await secretsOf(context);
  return { found, verifying: { ...scheme.settings, url, secrets: found.secrets } };
}

/** The URL of the profile's target, for a scheme whose proof is for one URL. */
function ownUrl({ bindsUrl }: ChosenScheme, { config }: Context): string | undefined {
  const target = bindsUrl ? config.text("target") : undefined;
  return target?.startsWith("http") ? target : undefined;
}

/** The secret a request was checked with, as far as it may be shown. */
interface UsedSecret {
  readonly fingerprints: readonly string[];
  /** Where it came from, as `sign` and `profile explain` say it. */
  readonly source: string | null;
  /** Whom it signs for, where that is known. */
  readonly origin: string | null;
}

/** A verdict, with what of it is not known because it could not be read. */
interface Judgement {
  readonly verdict: Verdict;
  readonly mistakes: readonly Mistake[];
  /** What was not read, in words. */
  readonly unread?: string;
  /** The refusal is for what was not read: the receiver may have read it. */
  readonly code?: "KEY_SET_UNAVAILABLE" | "CAPTURE_INCOMPLETE";
}

/** Codes that a body leads to which is not the one that was sent. */
const OF_BODY =
  /^(?:SIGNATURE_MISMATCH|BODY_|TOKEN_(?:MALFORMED|SIGNATURE)|CLAIM_HTB|DIGEST_|CONTENT_DIGEST|EVENT_MALFORMED)/;

/** Mistakes that a body shows which is not the one that was sent. */
const MISTAKES_OF_BODY =
  /^(?:body-|signature-unexplained|claim-htb|digest-of-|token-unreadable|token-reused|.*reserialised)/;

function judgementOf(verdict: Verdict, mistakes: readonly Mistake[], doubt: string | undefined): Judgement {
  if (verdict.ok) return { verdict, mistakes };
  if (verdict.code === "KEY_SET_UNAVAILABLE")
    return { verdict, mistakes, unread: "the key set, so the proof was not checked", code: verdict.code };
  if (doubt === undefined) return { verdict, mistakes };
  const known = mistakes.filter(({ id }) => !MISTAKES_OF_BODY.test(id));
  const isOfBody = OF_BODY.test(verdict.code) && known.length === 0;
  return {
    verdict,
    mistakes: known,
    unread: `the body as it was sent: ${doubt}`,
    ...(isOfBody ? { code: "CAPTURE_INCOMPLETE" } : {}),
  };
}

function print(
  { out, args, config, io }: Context,
  { verdict, mistakes, unread, code }: Judgement,
  secret: UsedSecret | undefined,
  { who = "The service", accepted = 200 }: { who?: string; accepted?: number | undefined } = {},
): void {
  const status = verdict.ok || code !== undefined ? {} : { status: verdict.status };
  const refusal = verdict.ok ? {} : { ...status, code: code ?? verdict.code };
  out.document({
    type: "verify",
    ok: verdict.ok,
    ...(verdict.ok ? { status: accepted, eventId: verdict.event.id } : refusal),
    checks: verdict.checks,
    mistakes: mistakes.map(({ fixes: _ofOthers, ...mistake }) => mistake),
    ...(unread === undefined ? {} : { unread }),
    ...(secret ? { secret } : {}),
  });
  if (secret) {
    const shown = secret.fingerprints.map((text) => `${text}…`).join(", ");
    out.line(`  checked with    ${shown}${secret.source === null ? "" : `  (${secret.source})`}`);
  } else if (!args.isGiven("jwks"))
    out.line(`  checked with    key set ${keySetOf({ args, config, io })}  (${config.find("jwks")?.origin})`);
  for (const check of verdict.checks) {
    const mark = check.ok ? out.paint("green", "✔") : out.paint("red", "✖");
    out.line(`${mark} ${check.step.padEnd(15)} ${wordsOf(check, args.flag("ignore-time"))}`);
  }
  for (const { message, fix } of mistakes) {
    out.line(`  mistake         ${message}`);
    out.line(`  fix             ${fix}`);
  }
  if (unread !== undefined) out.line(`  not read        ${unread}`);
  if (verdict.ok) {
    out.line(`${who} would accept this request, unless its event id was processed before.`);
    const url = args.text("url");
    const next = url === undefined || secret === undefined ? "" : "next: ";
    const words = `${url === undefined ? "<listener url>" : wordOf(url)}${secret === undefined ? " --key <kid|file>" : ""}`;
    const test = nextStep(args, `hookproof test ${words}`, ["secret-file"]);
    if (args.text("scheme") === undefined)
      out.note(`${next}${test}      if your listener refuses it: finds the listener's own mistake`);
  } else {
    const would = `${who.charAt(0).toLowerCase()}${who.slice(1)} would answer ${(verdict as Rejection).status}`;
    const said = code ? "nobody can tell from this what a receiver would answer" : would;
    out.line(`${out.paint("red", `error[${code ?? verdict.code}]`)}  ${said}`);
  }
}

function exitOf({ verdict, code }: Judgement): number {
  return verdict.ok ? EXIT.ok : code === undefined ? EXIT.checkFailed : EXIT.setup;
}

async function capturedRequest(args: Args, io: Io): Promise<CapturedRequest> {
  const file = args.text("file");
  const [headers, body] = [args.text("headers"), args.text("body")];
  if (file !== undefined) {
    if (headers !== undefined) throw usageError("A file with a whole request excludes --headers.");
    if (file === "-" && args.texts("secret-file").includes("-"))
      throw usageError("Only one of the request and --secret-file can be standard input.");
    const request = parseCaptured(await readAll(io, file));
    const { lacksBody, ...known } = request;
    if (body !== undefined && lacksBody === undefined && request.body.length > 0)
      throw usageError("A file with a whole request excludes --body.", "It is for one without a body.");
    if (body !== undefined) return judged({ ...known, body: await partOf("body", body) });
    if (lacksBody !== undefined)
      throw withoutBody(
        file === "-" ? "Standard input" : file,
        lacksBody,
        "Give the bytes that were sent with --body @file.",
      );
    return known;
  }
  if (headers === undefined || body === undefined)
    throw usageError("Give a file with a raw request, or --headers @file and --body @file.");
  const [headerPart, bodyBytes] = [await partOf("headers", headers), await partOf("body", body)];
  // A mark before the body was signed with it; before the headers it is an editor's.
  const headerBytes = withoutMark(headerPart, headers.slice(1));
  return {
    method: "POST",
    target: "/",
    headers: parseHeaders(headerBytes.toString("latin1")),
    body: bodyBytes,
  };
}

function partOf(flag: string, value: string): Promise<Buffer> {
  if (!value.startsWith("@")) throw usageError(`--${flag} takes @file.`);
  return readBytes(value.slice(1));
}

/** The listener the request is checked against; where it is not known, the request's own path names it. */
async function listenerFor(
  context: Context,
  request: CapturedRequest,
): Promise<ListenerOptions & { isUrlKnown: boolean; secret?: UsedSecret; keySet?: ReadKeySet }> {
  const { args } = context;
  // What was sent to a place that only records requests says nothing of the listener.
  const isListeners = request.target.startsWith("http") && request.target.includes(INGESTION_PATH);
  const url = args.text("url") ?? (isListeners ? request.target : undefined);
  const origin = originOf(request);
  const path = request.target.includes(INGESTION_PATH) ? request.target : `${INGESTION_PATH}unknown`;
  const where = locate(url ?? `${origin ?? "https://listener.invalid"}${path}`);
  const isUrlKnown = url !== undefined || (origin !== undefined && path === request.target);
  const jwks = keySetOf(context);
  if (jwks !== undefined) {
    if (url === undefined)
      throw usageError(
        "--jwks needs --url: a token is bound to the listener's URL, and a raw request has no scheme.",
      );
    const keySet = await keysFrom(context.io, jwks);
    return { ...where, isUrlKnown, keySet, auth: { method: "jwt", keys: keySet.keys } };
  }
  const found = await secretsOf(context);
  return {
    ...where,
    isUrlKnown,
    auth: { method: "hmac", secret: found.secrets },
    secret: usedSecret(found, context),
  };
}

/** What a diagnosis is given; a URL that is not known is no part of what may have been signed. */
function covered(request: CapturedRequest, url: string, listener: ListenerOptions, isUrlKnown: boolean) {
  if (isUrlKnown) return { request: { ...request, url }, listener };
  const { id, auth } = listener;
  return { request: { ...request, url: url.slice(url.indexOf(INGESTION_PATH)) }, listener: { id, auth } };
}

async function secretsOf(context: Context): Promise<FoundSecrets> {
  const found = await findSecrets(context);
  if (found !== undefined) return found;
  throw new CliError(EXIT.setup, "SECRET_MISSING", "Neither a secret nor a key set was given.", {
    hint: "Use --secret-file <path>, or --jwks <url|file> for a token.",
  });
}

function usedSecret(found: FoundSecrets, { config }: Context): UsedSecret {
  return {
    fingerprints: fingerprintsOf(found),
    source: sourceOf(found, config) ?? null,
    origin: found.binding.kind === "origin" ? found.binding.origin : null,
  };
}

function locate(url: string): { id: string; baseUrl: string } {
  const path = url.replace(/[?#].*$/s, "");
  const at = path.lastIndexOf(INGESTION_PATH);
  if (at < 0) throw usageError(`--url must be a listener's URL, ending in ${INGESTION_PATH}{listener_id}.`);
  const id = path.slice(at + INGESTION_PATH.length);
  if (!LISTENER_ID.test(id))
    throw usageError(
      `${JSON.stringify(id)} cannot be a listener's id: use 1 to 128 letters, digits, "-" and "_".`,
      "Give the listener's URL with --url.",
    );
  return { baseUrl: path.slice(0, at), id };
}

/** The time that the request is judged by; `times` are those that it gives itself. */
function checkTime(args: Args, times: readonly (string | undefined)[]): number {
  const at = args.text("at");
  if (args.flag("ignore-time")) {
    if (at !== undefined) throw usageError("--at and --ignore-time exclude each other.");
    return ownTime(times);
  }
  return at === undefined ? Date.now() : pointInTime("--at", at);
}

function tokenIn(request: CapturedRequest): string {
  return headerOf(request, "authorization")?.replace(/^bearer\s/i, "") ?? "";
}

/** What was seen, or what was wrong with the values next to each other. */
function wordsOf({ ok, step, fact, rule, seen, wanted }: Check, ignoresTime: boolean): string {
  if (ok)
    return step === "window" && ignoresTime ? "its age is not looked at (--ignore-time)" : (seen ?? rule);
  const received = seen === undefined || seen === "nothing" ? [] : [`received ${seen}`];
  const expected = wanted === undefined ? [] : [`expected ${wanted}`];
  return [fact ?? rule, ...received, ...expected].join("  ");
}
