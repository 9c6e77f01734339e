// The command that runs a local listener and shows what arrives.
import { resolve } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { secretFingerprint } from "hookproof";
import type { ReceiverAnswer, ReplayStore } from "hookproof/receiver";
import type { HandledRequest } from "hookproof-service/listeners";
import type { Args, Command, Context } from "../command.js";
import { storeOf } from "../config/folder-file.js";
import { nextStep } from "../config/next-step.js";
import { isAddress } from "../config/settings.js";
import { REACH_FLAGS } from "../credentials/flags.js";
import { EXIT, refuseIdle, usageError } from "../failure.js";
import { createOwnFile, removalOf } from "../files.js";
import { stopped } from "../io.js";
import { keySetOf, signingKey, storeFolder } from "../keys/keys.js";
import { countOf } from "../output.js";
import { type ChosenScheme, SCHEME_EXAMPLES, SCHEME_FLAGS } from "../schemes/chosen-scheme.js";
import { expectingOf } from "../serve/expecting.js";
import { INSPECTOR_FLAGS, presentInspector, startInspecting } from "../serve/inspecting.js";
import {
  type Forwarded,
  type Forwarding,
  forward,
  inItsPlace,
  isTaken,
  reportElsewhere,
  reportRequest,
} from "../serve/report-request.js";
import { SERVING_FLAGS, servingOptions, started, tellOpen } from "../serve/serving.js";
import { type Session, writeSession } from "../serve/sessions.js";
import { WAITED } from "../times.js";

export const listen: Command = {
  name: "listen",
  details:
    "It says why it refuses a request; the inspector shows every one. On loopback unless --host says otherwise.",
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
    "write-secret": {
      type: "string",
      value: "<file>",
      describe: "write the secret to a new file, for a test that signs with it; removed at the end",
      completes: "file",
    },
    jwks: { type: "string", value: "<url|file>", describe: "the key set that tokens are checked with" },
    ...SCHEME_FLAGS,
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
      value: "<url|:port>",
      describe:
        "forward every correct request, headers and bytes unchanged; the application's answer goes to the sender, and an event that it does not take may come again",
    },
    header: {
      ...REACH_FLAGS.header,
      describe: "with --forward-to: a header to send along, as with hookproof send; its value is never shown",
    },
    respond: {
      type: "number",
      value: "<status>",
      range: [200, 599],
      describe: "answer accepted requests with this status, to test a sender",
    },
    "behave-as": {
      type: "string",
      value: "<file>",
      describe: "answer like the listener of a behaviour profile, which hookproof test --record keeps",
      completes: "file",
    },
    delay: {
      type: "duration",
      value: "<dur>",
      range: WAITED,
      describe: "wait this long before every answer",
    },
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
    "exit-after": { type: "duration", value: "<dur>", range: WAITED, describe: "stop after this time" },
    ...INSPECTOR_FLAGS,
    ...SERVING_FLAGS,
  },
  examples: [
    ["hookproof listen", "on port 4400; then in another terminal: hookproof send :4400 --data '{\"a\":1}'"],
    [
      "hookproof listen --jwks http://127.0.0.1:4410/.well-known/jwks.json",
      "for tokens, with the keys of hookproof jwks serve",
    ],
    SCHEME_EXAMPLES.listen,
    ["hookproof listen --respond 503 --until 3", "to see a sender try again"],
  ],
  exits: [[3, "secret or key set cannot be used"]],
  async run(context) {
    const { args, io, out } = context;
    const { startListeners } = await import("hookproof-service/listeners");
    const options = await servingOptions(context);
    const expecting = await expectingOf(context);
    const { method, secret, scheme } = expecting;
    const secretTo = args.text("write-secret");
    if (secretTo !== undefined && secret === undefined)
      throw usageError("--write-secret is for a listener with a secret; this one has a key set.");
    const forwarding = await forwardingOf(args, method, secret);
    const forwards = forwarding !== undefined;
    const forwarded = new WeakMap<HandledRequest["request"], Forwarded>();
    const id = args.text("listener-id") ?? "lst_local";
    if (!/^[A-Za-z0-9_-]{1,128}$/.test(id))
      throw usageError(
        `--listener-id must be letters, digits, - or _, 128 at most, not ${JSON.stringify(id)}.`,
      );
    const allowedCidrs = args.texts("allow-cidr");
    if (args.isGiven("respond")) refuseIdle(args, ["behave-as"], "and --respond exclude each other.");
    const profile = args.text("behave-as");
    const behaving =
      profile === undefined
        ? undefined
        : await (await import("../reporters/behaviour.js")).answersAs(profile);
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
          listeners: async (baseUrl) => [
            {
              ...(await expecting.listener({ id, baseUrl, allowedCidrs, forwards })),
              trustedProxies: args.texts("trust-proxy"),
              ...(await forgetting(args.number("respond"))),
              ...(forwarding && {
                run: async (_event, _reservation, request) => {
                  const answered = await forward(context, request, forwarding);
                  forwarded.set(request, answered);
                  inspector?.forwarded(request, { url: forwarding.url, ...answered });
                  if (!isTaken(answered)) throw new Error("the application did not take the event");
                },
              }),
              beforeAnswer: (answer, request) => {
                const given = inItsPlace(answer, forwarded.get(request));
                return changed(args, behaving?.(given) ?? given);
              },
            },
          ],
          onHandled: (handled) => {
            n++;
            counts.set(handled.status, (counts.get(handled.status) ?? 0) + 1);
            const number = n;
            // One after another, so that the lines are in the order of the requests.
            const where = { id, baseUrl: server.url };
            const mistakes = (request: HandledRequest["request"]) => expecting.mistakes(request, where);
            const reporting = { mistakes, forwarded: (one: HandledRequest["request"]) => forwarded.get(one) };
            reported = reported.then(() => reportRequest(context, number, handled, reporting));
            if (until !== undefined && n >= until) enough.abort();
          },
          onUnknown: (request) => {
            n++;
            counts.set(request.status, (counts.get(request.status) ?? 0) + 1);
            const [number, url] = [n, `${server.url}/api/v1/webhooks/incoming/${id}`];
            reported = reported.then(() => reportElsewhere(context, number, request, url));
            if (until !== undefined && n >= until) enough.abort();
          },
        }),
      options.port,
    ).catch(async (error) => {
      await page.stop();
      throw error;
    });
    const url = `${server.url}/api/v1/webhooks/incoming/${id}`;
    const jwks = keySetOf(context);
    const session: Session = {
      url,
      method,
      ...(scheme === undefined ? {} : { scheme: scheme.settingsFor(url) }),
      ...(secret === undefined ? {} : { secret }),
      ...(jwks === undefined ? {} : { jwks: isAddress("jwks", jwks) ? jwks : resolve(jwks) }),
      ...(page.url === undefined ? {} : { inspector: page.url }),
    };
    const endSession = await writeSession(io, out, server.port, session);
    const removeSecret = await writtenSecret(secretTo, secret).catch(async (error) => {
      endSession();
      await server.stop();
      await page.stop();
      throw error;
    });
    out.document({
      type: "listening",
      url,
      baseUrl: server.url,
      listenerId: id,
      method,
      ...(scheme === undefined ? {} : { scheme: scheme.settingsFor(url) }),
      ...(page.url === undefined ? {} : { inspectorUrl: page.url }),
      ...(secret === undefined ? {} : { secretFingerprint: secretFingerprint(secret) }),
    });
    out.line(url);
    tellOpen(
      context,
      "they can send to this listener, and see the inspector if they have its whole address.",
    );
    await presentInspector(context, page.url);
    out.note(await nextLine(context, server.port, { method, scheme }));

    const exitAfterMs = args.durationMs("exit-after");
    const timer = exitAfterMs === undefined ? undefined : setTimeout(() => enough.abort(), exitAfterMs);
    await Promise.race([stopped(io.stopSignal), stopped(enough.signal)]);
    clearTimeout(timer);
    removeSecret();
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

/** How to send to this listener as it is: with a key of this user for tokens, over TLS as it can be checked. */
async function nextLine(
  { args, io, config }: Context,
  port: number,
  { method, scheme }: { method: string; scheme: ChosenScheme | undefined },
): Promise<string> {
  const hasKey = async () => {
    try {
      return (await signingKey(storeFolder(io, storeOf(config)), undefined)) !== undefined;
    } catch {
      return false; // no key, or a store that is not this folder's to name
    }
  };
  const words = ["hookproof send", `:${port}`, scheme?.sample ?? `--data '{"a":1}'`];
  const command = nextStep(args, [...words, ...(args.isGiven("tls-cert") ? ["--insecure"] : [])].join(" "));
  return method === "jwt" && !(await hasKey())
    ? `It takes what a key of that key set has signed: ${command} --key <file|kid>`
    : `next: ${command}`;
}

/** Writes the secret where a test waits for it; returns the function that removes it. */
async function writtenSecret(file: string | undefined, secret = ""): Promise<() => void> {
  if (file === undefined) return () => {};
  await createOwnFile(file, `${secret}\n`);
  return removalOf(file);
}

/** Where --forward-to leads. */
async function forwardingOf(
  args: Args,
  method: "hmac" | "jwt",
  secret: string | undefined,
): Promise<Forwarding | undefined> {
  const given = args.text("forward-to");
  if (given === undefined) {
    refuseIdle(args, ["header"], "is for --forward-to.");
    return undefined;
  }
  const { forwardedHeaders } = await import("../send/reach.js");
  const proof = method === "jwt" ? ["authorization"] : [];
  const own = await forwardedHeaders(args, [...OF_A_PROOF, ...proof]);
  const hidden = [...(secret === undefined ? [] : [secret]), ...own.map(([, value]) => value)];
  const { typedUrl } = await import("../credentials/checked-url.js");
  return { url: await typedUrl(given, "--forward-to"), own, hidden };
}

/** Headers by which an app may check again what was forwarded. */
const OF_A_PROOF = ["webhook-*", "svix-*", "x-webhook-*", "signature", "signature-input", "content-digest"];

/**
 * Where --respond refuses an event, its id stays free as after any answer that accepts nothing: else the next try would
 * be a duplicate, and the sender would take it for delivered.
 */
async function forgetting(respond: number | undefined): Promise<{ replayStore?: ReplayStore }> {
  const isAccepted = respond === undefined || respond < 300 || respond === 409;
  if (isAccepted) return {};
  const { memoryReplayStore } = await import("hookproof/receiver");
  const store = memoryReplayStore();
  return { replayStore: { ...store, commit: (reservation) => store.release(reservation) } };
}

/** The answer as --delay and --respond have it. */
async function changed(args: Args, answer: ReceiverAnswer): Promise<ReceiverAnswer> {
  const [delayMs, status] = [args.durationMs("delay"), args.number("respond")];
  if (delayMs !== undefined) await wait(delayMs);
  return status === undefined || !answer.verdict.ok ? answer : { ...answer, status };
}
