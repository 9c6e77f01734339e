// The story that `demo` plays: each step over real HTTP.

import {
  ALGORITHMS,
  createEvent,
  generateSecret,
  hmacSigner,
  jwtSigner,
  type SignedRequest,
  type Signer,
  signRequest,
  type WebhookEvent,
} from "hookproof";
import { diagnose } from "hookproof/diagnose";
import { createKeySet, generateKey, type KeyRecord, remoteKeys } from "hookproof/jwks";
import { toJwksListener } from "hookproof/node";
import type { HandledRequest, Inspector, RunningServer } from "hookproof-service/listeners";
import type { Context } from "../command.js";
import { INGESTION_PATH } from "../config/settings.js";
import { postExactly } from "../send/post-exactly.js";
import type { Reach } from "../send/reach.js";
import { writeSession } from "./sessions.js";

const PAYLOAD = { type: "user.offboarded", userId: "u_123" };

/** One step of the story. */
export interface Step {
  readonly name: string;
  readonly status: number;
  readonly expected: number;
  /** Why the listener refused, in words. */
  readonly reason?: string;
}

/** A demo whose steps have run and whose listener is still open. */
interface PlayedDemo {
  readonly url: string;
  readonly port: number;
  readonly failed: number;
  stop(): Promise<void>;
}

/** Starts a key set host and two listeners on loopback, and runs every step against them over real HTTP. */
export async function playDemo(
  { io, out }: Pick<Context, "io" | "out">,
  port: number,
  report: (step: Step) => void,
  inspector?: Inspector,
): Promise<PlayedDemo> {
  const { startListeners, startServer } = await import("hookproof-service/listeners");
  const secret = generateSecret();
  const keys = await Promise.all(ALGORITHMS.map((alg) => generateKey({ alg })));
  const host = await startServer(toJwksListener(createKeySet(keys)), {});
  let handled: HandledRequest | undefined;
  const starting = startOn(port, (serverPort) =>
    startListeners({
      port: serverPort,
      inspector,
      listeners: (baseUrl) => [
        { listener: { id: "lst_demo", baseUrl, auth: { method: "hmac", secret } } },
        {
          listener: {
            id: "lst_demo_jwt",
            baseUrl,
            auth: {
              method: "jwt",
              keys: remoteKeys(`${host.url}/.well-known/jwks.json`, { allowInsecureLoopback: true }),
            },
          },
          ...(keys[0] ? { signer: signerOf(keys[0]) } : {}),
        },
      ],
      onHandled: (request) => {
        handled = request;
      },
    }),
  );
  const server = await starting.catch(async (error) => {
    await host.stop(); // or the program would not end
    throw error;
  });
  const urlOf = (id: string) => `${server.url}${INGESTION_PATH}${id}`;
  const endSession =
    port === 0
      ? () => {}
      : await writeSession(io, out, server.port, { url: urlOf("lst_demo"), method: "hmac", secret });

  const stop = async () => {
    endSession();
    await Promise.all([server.stop(), host.stop()]);
  };
  try {
    const failed = await playSteps(
      { secret, keys, hmacUrl: urlOf("lst_demo"), jwtUrl: urlOf("lst_demo_jwt"), lastHandled: () => handled },
      report,
    );
    return { url: urlOf("lst_demo"), port: server.port, failed, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

interface Stage {
  readonly secret: string;
  readonly keys: readonly KeyRecord[];
  readonly hmacUrl: string;
  readonly jwtUrl: string;
  readonly lastHandled: () => HandledRequest | undefined;
}

/** The listeners of the story are this machine's, without TLS. */
const PLAIN: Reach = { ca: undefined, insecure: false, io: { env: {} }, headers: [], plainHttpHosts: [] };

/** Runs the steps; returns how many got another status than expected. */
async function playSteps(
  { secret, keys, hmacUrl, jwtUrl, lastHandled }: Stage,
  report: (step: Step) => void,
): Promise<number> {
  let failed = 0;
  async function step(name: string, expected: number, request: SignedRequest): Promise<void> {
    const { status } = await postExactly(request, { timeoutMs: 10_000, reach: PLAIN });
    const handled = lastHandled();
    const reason = status === 401 && handled ? await reasonFor(handled, secret) : undefined;
    if (status !== expected) failed++;
    report({ name, status, expected, ...(reason === undefined ? {} : { reason }) });
  }

  async function acceptedThenReplayed(method: string, url: string, signer: Signer): Promise<void> {
    const event = createEvent(PAYLOAD);
    await step(`${method}: a signed event is accepted`, 200, await signRequest({ url, signer, event }));
    await step(
      `${method}: the same event again is a duplicate`,
      409,
      await signRequest({ url, signer, event }),
    );
    await step(
      `${method}: one byte of the body changed`,
      401,
      withChangedByte(await signRequest({ url, signer, event: createEvent(PAYLOAD) })),
    );
  }

  await acceptedThenReplayed("HMAC", hmacUrl, hmacSigner({ secret }));
  await step(
    "HMAC: signed with the decoded secret",
    401,
    await signedWithDecodedSecret(hmacUrl, secret, createEvent(PAYLOAD)),
  );
  for (const key of keys) {
    await acceptedThenReplayed(`JWT ${key.alg}`, jwtUrl, signerOf(key));
    const stranger = await generateKey({ alg: key.alg, kid: key.kid });
    await step(
      `JWT ${key.alg}: signed by another key under the same kid`,
      401,
      await signRequest({ url: jwtUrl, signer: signerOf(stranger), event: createEvent(PAYLOAD) }),
    );
  }
  return failed;
}

/** The wanted port, or a free one if it is in use. */
async function startOn(
  port: number,
  start: (port: number) => Promise<RunningServer>,
): Promise<RunningServer> {
  try {
    return await start(port);
  } catch (error) {
    if (port === 0 || (error as NodeJS.ErrnoException).code !== "EADDRINUSE") throw error;
    return start(0);
  }
}

function signerOf({ privateJwk, kid, alg }: KeyRecord): Signer {
  return jwtSigner({ key: privateJwk, kid, alg });
}

function withChangedByte(request: SignedRequest): SignedRequest {
  const body = request.body.slice();
  body[body.length - 3] = "4".charCodeAt(0);
  return { ...request, body };
}

/** The mistake people make most: the secret looks like base64url, so they decode it. */
async function signedWithDecodedSecret(
  url: string,
  secret: string,
  event: WebhookEvent,
): Promise<SignedRequest> {
  const { createHmac } = await import("node:crypto");
  const request = await signRequest({ url, signer: hmacSigner({ secret }), event });
  const signature = createHmac("sha256", Buffer.from(secret, "base64url"))
    .update(`${request.timestamp}.${request.eventId}.`)
    .update(request.body)
    .digest("base64url");
  return { ...request, headers: { ...request.headers, "Webhook-Signature": signature } };
}

async function reasonFor({ verdict, request }: HandledRequest, secret: string): Promise<string | undefined> {
  if (verdict.ok) return undefined;
  const [mistake] =
    verdict.code === "SIGNATURE_MISMATCH" ? (await diagnose({ request, secret })).mistakes : [];
  return mistake?.message ?? verdict.detail;
}
