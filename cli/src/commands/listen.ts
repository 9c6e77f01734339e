// The command that runs a local listener and shows what arrives.
import { resolve } from "node:path";
import { secretFingerprint } from "hookproof";
import type { Command, Context } from "../command.js";
import { storeOf } from "../config/folder-file.js";
import { nextStep } from "../config/next-step.js";
import { isAddress, LISTENER_ID } from "../config/settings.js";
import { CONNECTION_FLAGS, REACH_FLAGS } from "../credentials/flags.js";
import { EXIT, refuseIdle, usageError } from "../failure.js";
import { createOwnFile, removalOf } from "../files/written-file.js";
import { stopped } from "../io.js";
import { keySetOf, signingKey, storeFolder } from "../keys/keys.js";
import { SCHEME_EXAMPLES, SCHEME_FLAGS } from "../schemes/chosen-scheme.js";
import { type Expecting, expectingOf } from "../serve/expecting.js";
import { INSPECTOR_FLAGS, presentInspector, startInspecting } from "../serve/inspecting.js";
import type { Forwarding } from "../serve/report-request.js";
import { type ChosenListener, ReportedRequests, urlOf } from "../serve/reported-requests.js";
import { reportServed, SERVING_FLAGS, servingOptions, started, warnIfOpen } from "../serve/serving.js";
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
    "plain-http": {
      ...REACH_FLAGS["plain-http"],
      describe:
        "with --forward-to: allow http:// to this name of a container, or *.localhost, in development",
    },
    ca: { ...CONNECTION_FLAGS.ca, describe: "with --forward-to: a CA certificate in PEM to trust" },
    insecure: {
      ...CONNECTION_FLAGS.insecure,
      describe: "with --forward-to: do not check the application's certificate; loopback only",
    },
    cert: {
      ...REACH_FLAGS.cert,
      describe: "with --forward-to: a client certificate in PEM, for an application that asks for one",
    },
    "key-file": REACH_FLAGS["key-file"],
    "key-passphrase-file": REACH_FLAGS["key-passphrase-file"],
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
    const { args, out } = context;
    const { startListeners } = await import("hookproof-service/listeners");
    const options = await servingOptions(context);
    const listener = await chosenListener(context);
    const { inspector, ...page } = await startInspecting(context);
    const requests = new ReportedRequests(context, listener);
    const server = await started(
      () =>
        startListeners({
          ...options,
          inspector,
          listeners: async (baseUrl) => [await requests.setup(baseUrl, inspector)],
          onHandled: (handled) => requests.add(handled, server.url),
          onUnknown: (request) => requests.addElsewhere(request, server.url),
        }),
      options.port,
    ).catch(async (error) => {
      await page.stop();
      throw error;
    });
    const session = sessionOf(context, listener, server.url, page.url);
    const end = await announced(context, listener, server.port, session).catch(async (error) => {
      await server.stop();
      await page.stop();
      throw error;
    });
    reportListening(context, listener, server.url, session);
    await presentInspector(context, page.url);
    out.note(await nextLine(context, server.port, listener.expecting));

    const exitAfterMs = args.durationMs("exit-after");
    const timer = exitAfterMs === undefined ? undefined : setTimeout(requests.end, exitAfterMs);
    await Promise.race([stopped(context.io.stopSignal), stopped(requests.ended)]);
    clearTimeout(timer);
    end();
    await server.stop();
    await page.stop();
    reportServed(context, await requests.counts());
    return EXIT.ok;
  },
};

async function chosenListener(context: Context): Promise<ChosenListener> {
  const { args } = context;
  const expecting = await expectingOf(context);
  if (args.text("write-secret") !== undefined && expecting.secret === undefined)
    throw usageError("--write-secret is for a listener with a secret; this one has a key set.");
  const forwarding = await forwardingOf(context, expecting.method, expecting.secret);
  const id = args.text("listener-id") ?? "lst_local";
  if (!LISTENER_ID.test(id))
    throw usageError(
      `--listener-id must be letters, digits, - or _, 128 at most, not ${JSON.stringify(id)}.`,
    );
  if (args.isGiven("respond")) refuseIdle(args, ["behave-as"], "and --respond exclude each other.");
  const profile = args.text("behave-as");
  const behaving =
    profile === undefined ? undefined : await (await import("../reporters/behaviour.js")).answersAs(profile);
  return { id, expecting, forwarding, behaving };
}

function sessionOf(
  context: Context,
  { id, expecting: { method, scheme, secret } }: ChosenListener,
  baseUrl: string,
  inspector: string | undefined,
): Session {
  const url = urlOf(baseUrl, id);
  const jwks = keySetOf(context);
  return {
    url,
    method,
    ...(scheme === undefined ? {} : { scheme: scheme.settingsFor(url) }),
    ...(secret === undefined ? {} : { secret }),
    ...(jwks === undefined ? {} : { jwks: isAddress("jwks", jwks) ? jwks : resolve(jwks) }),
    ...(inspector === undefined ? {} : { inspector }),
  };
}

/** Writes the session and the secret where others look for them; returns what removes both. */
async function announced(
  { args, io, out }: Context,
  { expecting: { secret } }: ChosenListener,
  port: number,
  session: Session,
): Promise<() => void> {
  const endSession = await writeSession(io, out, port, session);
  try {
    const removeSecret = await writtenSecret(args.text("write-secret"), secret);
    return () => {
      removeSecret();
      endSession();
    };
  } catch (error) {
    endSession();
    throw error;
  }
}

function reportListening(
  context: Context,
  { id, expecting: { method, secret, secretFrom } }: ChosenListener,
  baseUrl: string,
  { url, scheme, inspector }: Session,
): void {
  const { out } = context;
  out.document({
    type: "listening",
    url,
    baseUrl,
    listenerId: id,
    method,
    ...(scheme === undefined ? {} : { scheme }),
    ...(inspector === undefined ? {} : { inspectorUrl: inspector }),
    ...(secret === undefined ? {} : { secretFingerprint: secretFingerprint(secret), secretFrom }),
  });
  out.line(url);
  if (secret !== undefined && secretFrom !== "new")
    out.note(`checks with secret ${secretFingerprint(secret)}…  (${secretFrom})`);
  warnIfOpen(
    context,
    "they can send to this listener, and see the inspector if they have its whole address.",
  );
}

/** How to send to this listener as it is: with a key of this user for tokens, over TLS as it can be checked. */
async function nextLine(
  { args, io, config }: Context,
  port: number,
  { method, scheme }: Pick<Expecting, "method" | "scheme">,
): Promise<string> {
  const hasKey = async () => {
    try {
      return (await signingKey(storeFolder(io, storeOf(config)), undefined)) !== undefined;
    } catch {
      return false; // no key, or a store that is not this folder's to name
    }
  };
  const words = [
    "hookproof send",
    `:${port}`,
    scheme?.example ? `--event ${scheme.example}` : `--data '{"a":1}'`,
  ];
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
  { args, config }: Pick<Context, "args" | "config">,
  method: "hmac" | "jwt",
  secret: string | undefined,
): Promise<Forwarding | undefined> {
  const given = args.text("forward-to");
  if (given === undefined) {
    refuseIdle(args, Object.keys({ ...CONNECTION_FLAGS, ...REACH_FLAGS }), "is for --forward-to.");
    return undefined;
  }
  const { forwardedHeaders, givenCertificate, plainHttpHosts } = await import("../send/reach.js");
  const proof = method === "jwt" ? ["authorization"] : [];
  const own = await forwardedHeaders(args, [...OF_A_PROOF, ...proof]);
  const hidden = [...(secret === undefined ? [] : [secret]), ...own.map(([, value]) => value)];
  const { requireTls, typedUrl } = await import("../credentials/checked-url.js");
  const url = await typedUrl(given, "--forward-to");
  await requireTls(url, "--forward-to", plainHttpHosts(config));
  return { url, own, hidden, client: await givenCertificate(args, { url, config }) };
}

/** Headers by which an app may check again what was forwarded. */
const OF_A_PROOF = ["webhook-*", "svix-*", "x-webhook-*", "signature", "signature-input", "content-digest"];
