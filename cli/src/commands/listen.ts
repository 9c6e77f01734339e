import { generateSecret, secretFingerprint } from "hookproof";
import { diagnose } from "hookproof/diagnose";
import type { Listener, Verdict } from "hookproof/receiver";
import { type HandledRequest, startListeners } from "hookproof-service";
import type { Command, Context } from "../command.js";
import { durationMs } from "../duration.js";
import { EXIT, usageError } from "../failure.js";
import { keysFrom } from "../key-source.js";
import { givenSecrets } from "../secrets.js";
import { SERVING_FLAGS, servingOptions, started, stopped } from "../serving.js";
import { type Session, writeSession } from "../sessions.js";

export const listen: Command = {
  name: "listen",
  describe:
    "A local listener that checks every request as the service does and says why it refuses one. Bound to loopback.",
  flags: {
    port: { type: "number", value: "<n>", default: 4400, describe: "0 takes a free port" },
    "listener-id": {
      type: "string",
      value: "<id>",
      default: "lst_local",
      describe: "the listener's id in its path",
    },
    method: { type: "string", choices: ["hmac", "jwt"], describe: "what it demands; jwt with --jwks" },
    "secret-file": {
      type: "string",
      value: "<path|->",
      repeatable: true,
      describe: "the secret; a fresh one otherwise",
    },
    jwks: { type: "string", value: "<url|file>", describe: "the key set that tokens are checked with" },
    "allow-insecure-jwks": {
      type: "boolean",
      describe: "key sets at private addresses too, for development",
    },
    "allow-cidr": {
      type: "string",
      value: "<cidr>",
      repeatable: true,
      describe: "addresses that may send; all by default",
    },
    "trust-proxy": {
      type: "string",
      value: "<cidr>",
      repeatable: true,
      describe: "proxies whose X-Forwarded-For is believed",
    },
    until: { type: "number", value: "<n>", describe: "stop after this many requests" },
    "exit-after": { type: "string", value: "<dur>", describe: "stop after this time" },
    ...SERVING_FLAGS,
  },
  examples: [
    ["hookproof listen", "on port 4400; then in another terminal: hookproof send :4400 --data '{\"a\":1}'"],
    [
      "hookproof listen --jwks http://127.0.0.1:4410/.well-known/jwks.json",
      "for tokens, with the keys of hookproof jwks serve",
    ],
  ],
  exits: [[3, "secret or key set cannot be used"]],
  async run(context) {
    const { args, io, out } = context;
    const options = await servingOptions(args);
    const { auth, secret } = await authOf(context);
    const id = args.text("listener-id") ?? "lst_local";
    const until = args.number("until");
    const counts = new Map<number, number>();
    const enough = new AbortController();
    let n = 0;

    const server = await started(
      () =>
        startListeners({
          ...options,
          listeners: (baseUrl) => [
            {
              listener: { id, baseUrl, auth, allowedCidrs: args.texts("allow-cidr") },
              trustedProxies: args.texts("trust-proxy"),
            },
          ],
          onHandled: async (handled) => {
            n++;
            counts.set(handled.status, (counts.get(handled.status) ?? 0) + 1);
            await report(context, n, handled, { id, baseUrl: server.url, auth });
            if (until !== undefined && n >= until) enough.abort();
          },
        }),
      options.port,
    );
    const url = `${server.url}/api/v1/webhooks/incoming/${id}`;
    const session: Session = { url, method: auth.method, ...(secret === undefined ? {} : { secret }) };
    const endSession = await writeSession(io, server.port, session);
    out.document({
      type: "listening",
      url,
      baseUrl: server.url,
      listenerId: id,
      method: auth.method,
      ...(secret === undefined ? {} : { secretFingerprint: secretFingerprint(secret) }),
    });
    out.line(url);
    out.note(`next: hookproof send :${server.port} --data '{"a":1}'`);

    const exitAfter = args.text("exit-after");
    const timer =
      exitAfter === undefined
        ? undefined
        : setTimeout(() => enough.abort(), durationMs("exit-after", exitAfter));
    await Promise.race([stopped(io.stopSignal), stopped(enough.signal)]);
    clearTimeout(timer);
    endSession();
    await server.stop();
    out.note(`${n} requests${[...counts].map(([status, count]) => `, ${count} x ${status}`).join("")}`);
    return EXIT.ok;
  },
};

async function authOf({ args, io, out }: Context): Promise<{ auth: Listener["auth"]; secret?: string }> {
  const jwks = args.text("jwks");
  if (args.text("method") === "jwt" && jwks === undefined)
    throw usageError("--method jwt needs --jwks <url|file>.", "hookproof jwks serve hosts one.");
  if (args.text("method") === "hmac" && jwks !== undefined)
    throw usageError("--jwks belongs to --method jwt.");
  if (jwks !== undefined)
    return { auth: { method: "jwt", keys: await keysFrom(jwks, args.flag("allow-insecure-jwks")) } };
  const given = await givenSecrets(io, out, args.texts("secret-file"));
  const secrets = given.length > 0 ? given : [generateSecret()];
  return {
    auth: { method: "hmac", secret: secrets },
    ...(secrets[0] === undefined ? {} : { secret: secrets[0] }),
  };
}

async function report(
  { out }: Context,
  n: number,
  { status, verdict, request }: HandledRequest,
  listener: Listener,
): Promise<void> {
  const eventId = verdict.ok ? verdict.event.id : request.headers && seenEventId(verdict);
  const cause = verdict.ok ? undefined : await causeOf(verdict, request, listener);
  out.document({
    type: "request",
    n,
    status,
    ...(verdict.ok ? {} : { code: verdict.code }),
    ...(eventId ? { eventId } : {}),
    checks: verdict.checks,
    ...(cause === undefined ? {} : { cause }),
  });
  const mark = verdict.ok
    ? out.paint("green", "✔ 200")
    : out.paint(status === 409 ? "yellow" : "red", `${status === 409 ? "=" : "✖"} ${status}`);
  out.line(`${mark} ${verdict.ok ? "accepted" : verdict.code}  ${eventId ?? ""}`.trimEnd());
  if (cause !== undefined) out.line(`  cause      ${cause}`);
}

function seenEventId(verdict: Verdict): string | undefined {
  return verdict.checks.find(({ step, ok }) => step === "event-id" && ok)?.seen;
}

/** Why a request was refused, in words: the known mistake that explains it, or what the check saw. */
async function causeOf(
  verdict: Exclude<Verdict, { ok: true }>,
  request: HandledRequest["request"],
  listener: Listener,
): Promise<string> {
  const looks = EXPLAINED_STATUSES.has(verdict.status);
  const [cause] = looks ? (await diagnose({ request, listener })).causes : [];
  return cause?.message ?? verdict.detail;
}

/** Statuses that a mistake in the request itself leads to. */
const EXPLAINED_STATUSES: ReadonlySet<number> = new Set([400, 401, 415]);
