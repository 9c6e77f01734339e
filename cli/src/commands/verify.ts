// The command that verifies a captured request and explains why it fails.
import type { Mistake } from "hookproof/diagnose";
import type { ListenerOptions, Rejection, Verdict } from "hookproof/receiver";
import { parseCaptured } from "../capture/captured-request.js";
import { type CapturedRequest, parseHeaderLines } from "../capture/raw-request.js";
import { ownTime, timesOfToken } from "../capture/request-time.js";
import type { Args, Command, Context } from "../command.js";
import { type FoundSecrets, fingerprintsOf } from "../credentials/origin-rule.js";
import { findSecrets } from "../credentials/secrets.js";
import { CliError, EXIT, usageError } from "../failure.js";
import { readBytes, readUnmarked } from "../files.js";
import { describeCredential } from "../history/history-record.js";
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
import { pointInTime } from "../times.js";

const PATH = "/api/v1/webhooks/incoming/";

export const verify: Command = {
  name: "verify",
  details: "The checks are those of the service.",
  positionals: [
    {
      name: "file",
      required: false,
      describe: "a raw HTTP request, a HAR file, a curl command or an exported event; - for standard input",
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
      describe: "with --received: the request as it was sent; says what the way did to it",
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
    [3, "secret or file missing, or the key set cannot be read"],
    [7, "the service would refuse the request, or the way changed it"],
  ],
  async run(context) {
    const { args, io } = context;
    if (args.text("sent") !== undefined || args.text("received") !== undefined)
      return (await import("../capture/compare-captures.js")).compareCaptures(context);
    const request = await capturedRequest(args, io);
    const scheme = schemeOf(args, configuredScheme(context.config));
    if (scheme) return verifyBy(scheme, context, request);
    const { secret, keySet, ...listener } = await listenerFor(context, request);
    const url = `${listener.baseUrl}${PATH}${listener.id}`;
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
          ).diagnose({ request: { ...request, url }, listener, clock, jwks: await keySet?.document() })
        ).mistakes
      : [];
    print(context, verdict, mistakes, secret);
    return exitOf(verdict);
  },
};

/** Checks a request by another scheme than the service's own. */
async function verifyBy(scheme: ChosenScheme, context: Context, request: CapturedRequest): Promise<number> {
  const { args } = context;
  const { found, keySet, verifying } = await verifyingOf(scheme, context, request);
  const verifier = await madeWith(scheme, () => scheme.verifier(verifying));
  const at = checkTime(args, scheme.signedAt(request));
  const clock = { now: () => at };
  const { method, target, headers, body } = request;
  // Parts of a request do not say its path.
  const url = args.isGiven("headers") ? (verifying.url ?? target) : target;
  const { createReceiver } = await import("hookproof/receiver");
  const verdict = await createReceiver({ verifier, clock }).verify({ method, url, headers, body });
  const looks = !verdict.ok && (!args.isGiven("diagnose") || args.flag("diagnose"));
  const jwks = await keySet?.document();
  const mistakes = looks ? await mistakesBehind(scheme, request, { ...verifying, jwks, clock }) : [];
  print(context, verdict, mistakes, found && usedSecret(found), {
    who: `A receiver of ${scheme.title}`,
    accepted: verifier.answers?.accepted,
  });
  return exitOf(verdict);
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
  if (url !== undefined && !URL.canParse(url))
    throw usageError(`--url is not a URL: ${JSON.stringify(url)}.`);
  if (!scheme.bindsUrl && args.isGiven("url")) throw usageError(`--url is not for ${name}.`);
  if (isByKey && jwks === undefined)
    throw new CliError(EXIT.setup, "SECRET_MISSING", `${name} needs the sender's key set.`, {
      hint: "Give it with --jwks <url|file>.",
    });
  const common = { ...scheme.settings, url };
  if (jwks !== undefined) {
    const keySet = await keysFrom(io, jwks);
    return { keySet, verifying: { ...common, keys: keySet.keys } };
  }
  const found = await secretsOf(context);
  return { found, verifying: { ...common, secrets: found.secrets } };
}

/** The URL of the profile's target, for a scheme whose proof is for one URL. */
function ownUrl({ bindsUrl }: ChosenScheme, { config }: Context): string | undefined {
  const target = bindsUrl ? config.text("target") : undefined;
  return target?.startsWith("http") ? target : undefined;
}

/** The secret a request was checked with, as far as it may be shown. */
interface UsedSecret {
  readonly fingerprints: readonly string[];
  /** Where it came from, in words. */
  readonly source: string;
  /** Whom it signs for, where that is known. */
  readonly origin: string | null;
}

function print(
  { out, args }: Context,
  verdict: Verdict,
  mistakes: readonly Mistake[],
  secret: UsedSecret | undefined,
  { who = "The service", accepted = 200 }: { who?: string; accepted?: number | undefined } = {},
): void {
  const refusal = verdict.ok ? {} : { status: verdict.status, code: verdict.code };
  out.document({
    type: "verify",
    ok: verdict.ok,
    ...(verdict.ok ? { status: accepted, eventId: verdict.event.id } : refusal),
    checks: verdict.checks,
    mistakes,
    ...(secret ? { secret } : {}),
  });
  if (secret) {
    const { fingerprints, source, origin } = secret;
    out.line(
      `  checked with    ${fingerprints.map((text) => `${text}…`).join(", ")}  (${source}${origin === null ? "" : `, for ${origin}`})`,
    );
  }
  for (const check of verdict.checks) {
    const mark = check.ok ? out.paint("green", "✔") : out.paint("red", "✖");
    const seen =
      check.seen === undefined
        ? ""
        : check.ok
          ? check.seen
          : `saw ${check.seen}${check.wanted === undefined ? "" : `  wanted ${check.wanted}`}`;
    out.line(`${mark} ${check.step.padEnd(15)} ${check.ok ? seen : `${check.rule}; ${seen}`}`.trimEnd());
  }
  for (const { message, fix } of mistakes) {
    out.line(`  mistake         ${message}`);
    out.line(`  fix             ${fix}`);
  }
  if (verdict.ok) {
    out.line(`${who} would accept this request, unless its event id was processed before.`);
    if (args.text("scheme") === undefined)
      out.note(
        `next: hookproof test ${args.text("url") ?? "<listener url>"}      if your listener refuses it: finds the listener's own mistake`,
      );
  } else {
    const would = `${who.charAt(0).toLowerCase()}${who.slice(1)} would answer ${(verdict as Rejection).status}`;
    const said = isUnread(verdict) ? "the key set was not read, so the proof was not checked" : would;
    out.line(`${out.paint("red", `error[${verdict.code}]`)}  ${said}`);
  }
}

/** Whether the request was refused for what could not be read here; the service may have read it. */
function isUnread(verdict: Verdict): boolean {
  return !verdict.ok && verdict.code === "KEY_SET_UNAVAILABLE";
}

function exitOf(verdict: Verdict): number {
  if (verdict.ok) return EXIT.ok;
  return isUnread(verdict) ? EXIT.setup : EXIT.checkFailed;
}

async function capturedRequest(args: Args, io: Io): Promise<CapturedRequest> {
  const file = args.text("file");
  const [headers, body] = [args.text("headers"), args.text("body")];
  if (file !== undefined) {
    if (headers !== undefined || body !== undefined)
      throw usageError("A file with a whole request excludes --headers and --body.");
    if (file === "-" && args.texts("secret-file").includes("-"))
      throw usageError("Only one of the request and --secret-file can be standard input.");
    return parseCaptured(await readUnmarked(io, file));
  }
  if (headers === undefined || body === undefined)
    throw usageError("Give a file with a raw request, or --headers @file and --body @file.");
  const [headerPart, bodyBytes] = [await partOf("headers", headers), await partOf("body", body)];
  // A mark before the body was signed with it; before the headers it is an editor's.
  const headerBytes = withoutMark(headerPart, headers.slice(1));
  return {
    method: "POST",
    target: "/",
    headers: parseHeaderLines(headerBytes.toString("latin1").split(/\r?\n/)),
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
): Promise<ListenerOptions & { secret?: UsedSecret; keySet?: ReadKeySet }> {
  const { args } = context;
  const url = args.text("url") ?? (request.target.startsWith("http") ? request.target : undefined);
  const where = locate(
    url ?? `https://listener.invalid${request.target.includes(PATH) ? request.target : `${PATH}unknown`}`,
  );
  const jwks = keySetOf(context);
  if (jwks !== undefined) {
    if (url === undefined)
      throw usageError(
        "--jwks needs --url: a token is bound to the listener's URL, and a raw request has no scheme.",
      );
    const keySet = await keysFrom(context.io, jwks);
    return { ...where, keySet, auth: { method: "jwt", keys: keySet.keys } };
  }
  const found = await secretsOf(context);
  return { ...where, auth: { method: "hmac", secret: found.secrets }, secret: usedSecret(found) };
}

async function secretsOf(context: Context): Promise<FoundSecrets> {
  const found = await findSecrets(context);
  if (found !== undefined) return found;
  throw new CliError(EXIT.setup, "SECRET_MISSING", "Neither a secret nor a key set was given.", {
    hint: "Use --secret-file <path>, or --jwks <url|file> for a token.",
  });
}

function usedSecret(found: FoundSecrets): UsedSecret {
  const { binding, credential } = found;
  return {
    fingerprints: fingerprintsOf(found),
    source: describeCredential(credential),
    origin: binding.kind === "origin" ? binding.origin : null,
  };
}

function locate(url: string): { id: string; baseUrl: string } {
  const path = url.replace(/[?#].*$/s, "");
  const at = path.lastIndexOf(PATH);
  if (at < 0) throw usageError(`--url must be a listener's URL, ending in ${PATH}{listener_id}.`);
  const id = path.slice(at + PATH.length);
  if (!/^[A-Za-z0-9_-]{1,128}$/.test(id))
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

function headerOf({ headers }: CapturedRequest, wanted: string): string | undefined {
  return headers.find(([name]) => name.toLowerCase() === wanted)?.[1];
}

function tokenIn(request: CapturedRequest): string {
  return headerOf(request, "authorization")?.replace(/^bearer\s/i, "") ?? "";
}
