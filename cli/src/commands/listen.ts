import { setTimeout as wait } from "node:timers/promises";
import { generateSecret, secretFingerprint } from "hookproof";
import type { Listener, ReceiverAnswer } from "hookproof/receiver";
import { startListeners } from "hookproof-service";
import type { Args, Command, Context } from "../command.js";
import { EXIT, usageError } from "../failure.js";
import { INSPECTOR_FLAGS, presentInspector, startInspecting } from "../inspecting.js";
import { keysFrom } from "../key-source.js";
import { fingerprintsOf, isLoopback } from "../origin-rule.js";
import { type Reporting, reportRequest } from "../report-request.js";
import { findSecrets } from "../secrets.js";
import { SERVING_FLAGS, servingOptions, started, stopped } from "../serving.js";
import { type Session, writeSession } from "../sessions.js";

export const listen: Command = {
  name: "listen",
  describe:
    "A local listener that checks every request as the service does and says why it refuses one, with the inspector beside it. Bound to loopback.",
  flags: {
    port: {
      type: "number",
      value: "<n>",
      default: 4400,
      range: [0, 65_535],
      describe: "0 takes a free port",
    },
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
      describe: "the secret; the profile's or a fresh one otherwise",
      completes: "file",
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
    "forward-to": {
      type: "string",
      value: "<url>",
      describe: "post every accepted request on, with its headers and bytes as they were sent",
    },
    respond: {
      type: "number",
      value: "<status>",
      range: [200, 599],
      describe: "answer accepted requests with this status, to try out a sender",
    },
    delay: { type: "duration", value: "<dur>", describe: "wait this long before every answer" },
    history: {
      type: "string",
      value: "<file>",
      describe: "keep the requests in a SQLite file, over a restart",
      completes: "file",
    },
    until: {
      type: "number",
      value: "<n>",
      range: [1, 999_999_999],
      describe: "stop after this many requests",
    },
    "exit-after": { type: "duration", value: "<dur>", describe: "stop after this time" },
    ...INSPECTOR_FLAGS,
    ...SERVING_FLAGS,
  },
  examples: [
    ["hookproof listen", "on port 4400; then in another terminal: hookproof send :4400 --data '{\"a\":1}'"],
    [
      "hookproof listen --jwks http://127.0.0.1:4410/.well-known/jwks.json",
      "for tokens, with the keys of hookproof jwks serve",
    ],
    ["hookproof listen --respond 503 --until 3", "to see a sender try again"],
  ],
  exits: [[3, "secret or key set cannot be used"]],
  async run(context) {
    const { args, io, out } = context;
    const options = await servingOptions(args);
    const { auth, secret } = await authOf(context);
    const reporting = reportingOf(args);
    const id = args.text("listener-id") ?? "lst_local";
    if (!/^[A-Za-z0-9_-]{1,128}$/.test(id))
      throw usageError(
        `--listener-id must be letters, digits, - or _, 128 at most, not ${JSON.stringify(id)}.`,
      );
    const until = args.number("until");
    const counts = new Map<number, number>();
    const enough = new AbortController();
    let reported = Promise.resolve();
    let n = 0;

    const { inspector, ...page } = await startInspecting(context);
    const server = await started(
      () =>
        startListeners({
          ...options,
          inspector,
          listeners: (baseUrl) => [
            {
              listener: { id, baseUrl, auth, allowedCidrs: args.texts("allow-cidr") },
              // To look at requests is harmless; what is posted on reaches an automation.
              allowDocumentedSecret: reporting.forwardTo === undefined,
              trustedProxies: args.texts("trust-proxy"),
              beforeAnswer: (answer) => changed(args, answer),
            },
          ],
          onHandled: (handled) => {
            n++;
            counts.set(handled.status, (counts.get(handled.status) ?? 0) + 1);
            const number = n;
            // One after another, so that the lines stand in the order of the requests.
            const listener = { id, baseUrl: server.url, auth };
            reported = reported.then(() =>
              reportRequest(context, number, handled, { ...reporting, listener }),
            );
            if (until !== undefined && n >= until) enough.abort();
          },
        }),
      options.port,
    ).catch(async (error) => {
      await page.stop();
      throw error;
    });
    const url = `${server.url}/api/v1/webhooks/incoming/${id}`;
    const session: Session = {
      url,
      method: auth.method,
      ...(secret === undefined ? {} : { secret }),
      ...(page.url === undefined ? {} : { inspector: page.url }),
    };
    const endSession = await writeSession(io, out, server.port, session);
    out.document({
      type: "listening",
      url,
      baseUrl: server.url,
      listenerId: id,
      method: auth.method,
      ...(page.url === undefined ? {} : { inspectorUrl: page.url }),
      ...(secret === undefined ? {} : { secretFingerprint: secretFingerprint(secret) }),
    });
    out.line(url);
    await presentInspector(context, page.url);
    out.note(`next: hookproof send :${server.port} --data '{"a":1}'`);

    const exitAfterMs = args.durationMs("exit-after");
    const timer = exitAfterMs === undefined ? undefined : setTimeout(() => enough.abort(), exitAfterMs);
    await Promise.race([stopped(io.stopSignal), stopped(enough.signal)]);
    clearTimeout(timer);
    endSession();
    await server.stop();
    await page.stop();
    await reported;
    out.note(`${n} requests${[...counts].map(([status, count]) => `, ${count} x ${status}`).join("")}`);
    return EXIT.ok;
  },
};

/** What is done with requests besides answering them. */
function reportingOf(args: Args): Omit<Reporting, "listener"> {
  const forwardTo = args.text("forward-to");
  if (forwardTo !== undefined && !/^https?:\/\/[^/]/.test(forwardTo))
    throw usageError(`--forward-to must be an http or https URL, not ${JSON.stringify(forwardTo)}.`);
  return { forwardTo };
}

/** The answer as --delay and --respond have it. */
async function changed(args: Args, answer: ReceiverAnswer): Promise<ReceiverAnswer> {
  const [delayMs, status] = [args.durationMs("delay"), args.number("respond")];
  if (delayMs !== undefined) await wait(delayMs);
  return status === undefined || !answer.verdict.ok ? answer : { ...answer, status };
}

async function authOf(context: Context): Promise<{ auth: Listener["auth"]; secret?: string }> {
  const { args } = context;
  const jwks = args.text("jwks");
  if (args.text("method") === "jwt" && jwks === undefined)
    throw usageError("--method jwt needs --jwks <url|file>.", "hookproof jwks serve hosts one.");
  if (args.text("method") === "hmac" && jwks !== undefined)
    throw usageError("--jwks belongs to --method jwt.");
  if (jwks !== undefined)
    return { auth: { method: "jwt", keys: await keysFrom(jwks, args.flag("allow-insecure-jwks")) } };
  const secrets = (await ownSecrets(context)) ?? [generateSecret()];
  return {
    auth: { method: "hmac", secret: secrets },
    ...(secrets[0] === undefined ? {} : { secret: secrets[0] }),
  };
}

/** The secret that is given, or the profile's where it is for this machine: another listener's does not sign here. */
async function ownSecrets(context: Context): Promise<readonly string[] | undefined> {
  const found = await findSecrets(context);
  if (found === undefined) return undefined;
  const { binding } = found;
  if (binding.kind !== "origin" || isLoopback(binding.origin)) return found.secrets;
  context.out.note(
    `The secret ${fingerprintsOf(found).join("…, ")}… signs for ${binding.origin}; this listener has one of its own. --secret-file gives it another.`,
  );
  return undefined;
}
