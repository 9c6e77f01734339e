import { resolve } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { generateSecret, secretFingerprint } from "hookproof";
import type { ListenerOptions, ReceiverAnswer } from "hookproof/receiver";
import { startListeners } from "hookproof-service";
import type { Args, Command, Context } from "../command.js";
import { fingerprintsOf, isLoopback } from "../credentials/origin-rule.js";
import { findSecrets } from "../credentials/secrets.js";
import { EXIT, usageError } from "../failure.js";
import { stopped } from "../io.js";
import { keysFrom } from "../keys/keys.js";
import { countOf } from "../output.js";
import { INSPECTOR_FLAGS, presentInspector, startInspecting } from "../serve/inspecting.js";
import { type Reporting, reportRequest } from "../serve/report-request.js";
import { SERVING_FLAGS, servingOptions, started } from "../serve/serving.js";
import { type Session, writeSession } from "../serve/sessions.js";

export const listen: Command = {
  name: "listen",
  details: "It says why it refuses a request; the inspector shows every one. Loopback only.",
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
    method: { type: "string", choices: ["hmac", "jwt"], describe: "what it expects; jwt if --jwks is given" },
    "secret-file": {
      type: "string",
      value: "<path|->",
      repeatable: true,
      describe: "the secret; by default the profile's, or a new one",
      completes: "file",
    },
    jwks: { type: "string", value: "<url|file>", describe: "the key set that tokens are checked with" },
    "allow-insecure-jwks": {
      type: "boolean",
      describe: "allow key sets at private addresses, for development",
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
      describe: "proxies whose X-Forwarded-For is trusted",
    },
    "forward-to": {
      type: "string",
      value: "<url>",
      describe: "forward every accepted request, headers and bytes unchanged",
    },
    respond: {
      type: "number",
      value: "<status>",
      range: [200, 599],
      describe: "answer accepted requests with this status, to test a sender",
    },
    delay: { type: "duration", value: "<dur>", describe: "wait this long before every answer" },
    history: {
      type: "string",
      value: "<file>",
      describe: "keep the requests in a SQLite file, across restarts",
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
              // Showing requests is harmless; a forwarded request reaches an automation.
              allowDocumentedSecret: reporting.forwardTo === undefined,
              trustedProxies: args.texts("trust-proxy"),
              beforeAnswer: (answer) => changed(args, answer),
            },
          ],
          onHandled: (handled) => {
            n++;
            counts.set(handled.status, (counts.get(handled.status) ?? 0) + 1);
            const number = n;
            // One after another, so that the lines are in the order of the requests.
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
    const jwks = args.text("jwks");
    const session: Session = {
      url,
      method: auth.method,
      ...(secret === undefined ? {} : { secret }),
      ...(jwks === undefined ? {} : { jwks: /^https?:/.test(jwks) ? jwks : resolve(jwks) }),
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
    out.note(
      `${countOf(n, "request")}${[...counts].map(([status, count]) => `, ${count} x ${status}`).join("")}`,
    );
    return EXIT.ok;
  },
};

/** What is done with a request besides answering it. */
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

async function authOf(context: Context): Promise<{ auth: ListenerOptions["auth"]; secret?: string }> {
  const { args } = context;
  const jwks = args.text("jwks");
  if (args.text("method") === "jwt" && jwks === undefined)
    throw usageError("--method jwt needs --jwks <url|file>.", "hookproof jwks serve hosts one.");
  if (args.text("method") === "hmac" && jwks !== undefined) throw usageError("--jwks is for --method jwt.");
  if (jwks !== undefined)
    return { auth: { method: "jwt", keys: await keysFrom(jwks, args.flag("allow-insecure-jwks")) } };
  const secrets = (await ownSecrets(context)) ?? [generateSecret()];
  return {
    auth: { method: "hmac", secret: secrets },
    ...(secrets[0] === undefined ? {} : { secret: secrets[0] }),
  };
}

/** The given secret, or the profile's if it is for this machine; a secret of another listener is not used here. */
async function ownSecrets(context: Context): Promise<readonly string[] | undefined> {
  const found = await findSecrets(context);
  if (found === undefined) return undefined;
  const { binding } = found;
  if (binding.kind !== "origin" || isLoopback(binding.origin)) return found.secrets;
  context.out.note(
    `The secret ${fingerprintsOf(found).join("…, ")}… signs for ${binding.origin}; this listener uses a new secret. Choose another one with --secret-file.`,
  );
  return undefined;
}
