import { diagnose, type Mistake } from "hookproof/diagnose";
import { createReceiver, type ListenerOptions, type Rejection, type Verdict } from "hookproof/receiver";
import { parseCaptured } from "../capture/captured-request.js";
import { compareCaptures } from "../capture/compare-captures.js";
import { type CapturedRequest, parseHeaderLines } from "../capture/raw-request.js";
import type { Args, Command, Context } from "../command.js";
import { fingerprintsOf } from "../credentials/origin-rule.js";
import { findSecrets } from "../credentials/secrets.js";
import { CliError, EXIT, usageError } from "../failure.js";
import { readBytes } from "../files.js";
import { describeCredential } from "../history/history-record.js";
import { type Io, readStdin } from "../io.js";
import { keysFrom } from "../keys/keys.js";
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
    "ignore-time": { type: "boolean", describe: "check as if it were the time of the request" },
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
    ["hookproof verify --sent sent.http --received received.http", "what a proxy on the way changed"],
  ],
  exits: [
    [3, "secret or file missing"],
    [7, "the service would refuse the request, or the way changed it"],
  ],
  async run(context) {
    const { args, io } = context;
    if (args.text("sent") !== undefined || args.text("received") !== undefined)
      return compareCaptures(context);
    const request = await capturedRequest(args, io);
    const { secret, ...listener } = await listenerFor(context, request);
    const url = `${listener.baseUrl}${PATH}${listener.id}`;
    const clock = { now: () => checkTime(args, request) };
    const receiver = createReceiver({ listener, clock, allowDocumentedSecret: true });
    const verdict = await receiver.verify({ ...request, url });
    const looks = !verdict.ok && (!args.isGiven("diagnose") || args.flag("diagnose"));
    const mistakes = looks
      ? (await diagnose({ request: { ...request, url }, listener, clock })).mistakes
      : [];
    print(context, verdict, mistakes, secret);
    return verdict.ok ? EXIT.ok : EXIT.checkFailed;
  },
};

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
): void {
  const refusal = verdict.ok ? {} : { status: verdict.status, code: verdict.code };
  out.document({
    type: "verify",
    ok: verdict.ok,
    ...(verdict.ok ? { status: 200, eventId: verdict.event.id } : refusal),
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
    out.line("The service would accept this request, unless its event id was processed before.");
    out.note(
      `next: hookproof test ${args.text("url") ?? "<listener url>"}      if your listener refuses it: finds the listener's own mistake`,
    );
  } else
    out.line(
      `${out.paint("red", `error[${verdict.code}]`)}  the service would answer ${(verdict as Rejection).status}`,
    );
}

async function capturedRequest(args: Args, io: Io): Promise<CapturedRequest> {
  const file = args.text("file");
  const [headers, body] = [args.text("headers"), args.text("body")];
  if (file !== undefined) {
    if (headers !== undefined || body !== undefined)
      throw usageError("A file with a whole request excludes --headers and --body.");
    if (file === "-" && args.texts("secret-file").includes("-"))
      throw usageError("Only one of the request and --secret-file can be standard input.");
    return parseCaptured(file === "-" ? await readStdin(io) : await readBytes(file));
  }
  if (headers === undefined || body === undefined)
    throw usageError("Give a file with a raw request, or --headers @file and --body @file.");
  const [headerBytes, bodyBytes] = [await partOf("headers", headers), await partOf("body", body)];
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
): Promise<ListenerOptions & { secret?: UsedSecret }> {
  const { args } = context;
  const url = args.text("url") ?? (request.target.startsWith("http") ? request.target : undefined);
  const where = locate(
    url ?? `https://listener.invalid${request.target.includes(PATH) ? request.target : `${PATH}unknown`}`,
  );
  const jwks = args.text("jwks");
  if (jwks !== undefined) {
    if (url === undefined)
      throw usageError(
        "--jwks needs --url: a token is bound to the listener's URL, and a raw request has no scheme.",
      );
    return { ...where, auth: { method: "jwt", keys: await keysFrom(jwks) } };
  }
  const found = await findSecrets(context);
  if (found === undefined) {
    throw new CliError(EXIT.setup, "SECRET_MISSING", "Neither a secret nor a key set was given.", {
      hint: "Use --secret-file <path>, or --jwks <url|file> for a token.",
    });
  }
  const { secrets, binding, credential } = found;
  const secret = {
    fingerprints: fingerprintsOf(found),
    source: describeCredential(credential),
    origin: binding.kind === "origin" ? binding.origin : null,
  };
  return { ...where, auth: { method: "hmac", secret: secrets }, secret };
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

function checkTime(args: Args, request: CapturedRequest): number {
  const at = args.text("at");
  if (args.flag("ignore-time")) {
    if (at !== undefined) throw usageError("--at and --ignore-time exclude each other.");
    const timestamp = request.headers.find(([name]) => name.toLowerCase() === "webhook-timestamp")?.[1] ?? "";
    return /^[0-9]{1,15}$/.test(timestamp) ? Number(timestamp) * 1000 : Date.now();
  }
  return at === undefined ? Date.now() : pointInTime("--at", at);
}
