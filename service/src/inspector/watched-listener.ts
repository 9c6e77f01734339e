// Prepares what is asked about a listener with every request.

import { createHash } from "node:crypto";
import { type HeaderPair, hmacSigner, type Signer, secretFingerprint } from "hookproof";
import type { Mistake } from "hookproof/diagnose";
import { createReceiver, type Verdict } from "hookproof/receiver";
import { INGESTION_PATH } from "../server/listener-path.js";
import type {
  AnyListener,
  CompleteRequest,
  LocalListener,
  SchemeListener,
} from "../server/webhook-router.js";
import type { ListenerInfo, RunDetail, SignedDetail } from "./contract.js";
import { type Demanded, type Entry, onlyHeader } from "./entry.js";
import { FIRST_EXAMPLE } from "./example-events.js";
import { rememberingKeys } from "./found-keys.js";
import { signedDetail } from "./signed-detail.js";
import { readToken } from "./token-detail.js";

/** A listener whose requests are recorded. */
export interface WatchedListener {
  readonly info: ListenerInfo;
  /** Its setup with what the inspector needs to see; this one goes to the server. */
  readonly setup: AnyListener;
  /** Where its server is. */
  readonly serverUrl: string;
  /** The listener's URL under its base URL: what a token is bound to. */
  readonly boundUrl: string;
  /** What signs its replays. */
  readonly signer: Signer | undefined;
  /** What signs a test event. */
  readonly testSigner: Signer | undefined;
  readonly secrets: readonly string[];
  /** The certificate its server shows, in PEM. */
  readonly certificate: string | undefined;
  /** The status of its answer to an accepted request. */
  readonly accepted: number;
  runOf(eventId: string): RunDetail | undefined;
  now(): number;
  /** The verdict on a request as of a time. */
  verify(request: CompleteRequest, at: number): Promise<Verdict>;
  /** The mistakes behind a refusal. */
  mistakesIn(request: CompleteRequest, at: number): Promise<readonly Mistake[]>;
  /** What a request was signed over; of another scheme than the service's own. */
  signed?(entry: Entry): Promise<SignedDetail | undefined>;
  /** What a request should have carried. */
  demanded(request: RecordedParts): Demanded;
}

interface RecordedParts {
  readonly headers: readonly HeaderPair[];
  readonly body: Uint8Array;
  readonly at: number;
}

/** Where the server of listeners is. */
export interface WatchOptions {
  /** Scheme, host and port: replays go there. */
  readonly serverUrl: string;
  /** With HTTPS: the certificate it shows, in PEM. */
  readonly certificate?: string | undefined;
  /** What the automation made of an accepted event, where there is one. */
  readonly runOf?: ((listenerId: string, eventId: string) => RunDetail | undefined) | undefined;
}

/** By which method or scheme a listener's requests are proved, as a row says it. */
export function provedBy({ info }: WatchedListener): Pick<ListenerInfo, "auth" | "scheme"> {
  const { auth, scheme } = info;
  return scheme === undefined ? { ...(auth === undefined ? {} : { auth }) } : { scheme };
}

/** Makes ready what is asked about a listener with every request. */
export function watchListener(setup: AnyListener, options: WatchOptions): WatchedListener {
  return setup.verifier === undefined ? watchOwn(setup, options) : watchScheme(setup, options);
}

/** A listener of another scheme: its replays are exact ones, and a test event needs its `signer`. */
function watchScheme(
  setup: SchemeListener,
  { serverUrl, certificate, runOf }: WatchOptions,
): WatchedListener {
  const { id, verifier, secrets = [], mistakes = async () => [], clock = { now: () => Date.now() } } = setup;
  const url = `${serverUrl}${INGESTION_PATH}${id}`;
  return {
    info: {
      id,
      scheme: verifier.scheme.name,
      url,
      canSign: false,
      ...(setup.signer === undefined ? {} : { testEvent: setup.testEvent ?? FIRST_EXAMPLE }),
      secretFingerprints: secrets.map(secretFingerprint),
      allowedCidrs: setup.allowedCidrs ?? [],
    },
    setup,
    serverUrl,
    boundUrl: url,
    signer: undefined,
    testSigner: setup.signer,
    secrets,
    certificate,
    accepted: verifier.answers?.accepted ?? 200,
    runOf: (eventId) => runOf?.(id, eventId),
    now: () => clock.now(),
    verify: (request, at) => createReceiver({ verifier, clock: { now: () => at } }).verify(request),
    mistakesIn: mistakes,
    signed: (entry) => signedDetail(setup, url, entry),
    demanded: () => ({ auth: "scheme", checks: verifier.checks.map(({ step, rule }) => ({ step, rule })) }),
  };
}

function watchOwn(setup: LocalListener, { serverUrl, certificate, runOf }: WatchOptions): WatchedListener {
  const { listener, clock = { now: () => Date.now() } } = setup;
  const { auth, id } = listener;
  const boundUrl = `${listener.baseUrl.replace(/\/$/, "")}${INGESTION_PATH}${id}`;
  const secrets = auth.method === "jwt" ? [] : [auth.secret].flat();
  const secretFingerprints = secrets.map(secretFingerprint);
  const keys = auth.method === "jwt" ? rememberingKeys(auth.keys) : undefined;
  const secretSigners = secrets.map((secret) => hmacSigner({ secret }));
  const signer = setup.signer ?? (secrets.length === 0 ? undefined : hmacSigner({ secret: secrets }));

  return {
    info: {
      id,
      auth: auth.method,
      url: `${serverUrl}${INGESTION_PATH}${id}`,
      canSign: signer !== undefined,
      ...(signer === undefined ? {} : { testEvent: FIRST_EXAMPLE }),
      secretFingerprints,
      allowedCidrs: listener.allowedCidrs ?? [],
    },
    setup:
      auth.method === "jwt" && keys
        ? { ...setup, listener: { ...listener, auth: { ...auth, keys } } }
        : setup,
    serverUrl,
    boundUrl,
    signer,
    testSigner: signer,
    secrets,
    certificate,
    accepted: 200,
    runOf: (eventId) => runOf?.(id, eventId),
    now: () => clock.now(),
    // Whether the listener may have a documented secret was decided when it was started.
    verify: (request, at) =>
      createReceiver({ listener, clock: { now: () => at }, allowDocumentedSecret: true }).verify(request),
    // Loaded at the first refusal: its tables would be most of what a start reads.
    mistakesIn: async (request, at) => {
      const { diagnose } = await import("hookproof/diagnose");
      // Without it less is said.
      const jwks = await Promise.resolve()
        .then(() => setup.keySet?.())
        .catch(() => undefined);
      return (await diagnose({ request, listener, clock: { now: () => at }, jwks })).mistakes;
    },
    demanded({ headers, body, at }) {
      const [timestamp, eventId] = [
        onlyHeader(headers, "Webhook-Timestamp"),
        onlyHeader(headers, "Webhook-Event-Id"),
      ];
      if (auth.method === "jwt") {
        const header = readToken(onlyHeader(headers, "Authorization") ?? "")?.header;
        const key = typeof header?.kid === "string" ? keys?.found(header.kid) : undefined;
        return {
          auth: "jwt",
          claims: requiredClaims({ baseUrl: listener.baseUrl, boundUrl, eventId, body, at }),
          ...(key === undefined ? {} : { key }),
        };
      }
      if (timestamp === undefined || eventId === undefined) return { auth: "hmac", secretFingerprints };
      const received = onlyHeader(headers, "Webhook-Signature");
      const signatures = secretSigners.map((one) => {
        const signed = one.sign({ url: boundUrl, timestamp, eventId, body });
        // An HMAC signer answers at once.
        return "headers" in signed ? signed.headers[0]?.[1] : undefined;
      });
      const expected = signatures.find((one) => one === received) ?? signatures[0];
      return { auth: "hmac", secretFingerprints, ...(expected === undefined ? {} : { expected }) };
    },
  };
}

/** The claims a token needs to have, each as JSON or in words. */
function requiredClaims(request: {
  baseUrl: string;
  boundUrl: string;
  eventId: string | undefined;
  body: Uint8Array;
  at: number;
}): Record<string, string> {
  const now = Math.floor(request.at / 1000);
  return {
    exp: `${now} < exp <= ${now + 600}`,
    sub: JSON.stringify(request.baseUrl.replace(/\/$/, "")),
    aud: JSON.stringify(request.boundUrl),
    jti: JSON.stringify(request.eventId?.toLowerCase() ?? "the event id"),
    htm: JSON.stringify("POST"),
    htb_s256: JSON.stringify(createHash("sha256").update(request.body).digest("base64url")),
  };
}
