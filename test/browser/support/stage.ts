import { createHmac } from "node:crypto";
import { createEvent, hmacSigner, jwtSigner, type SignedRequest, type Signer, signRequest } from "hookproof";
import { createKeySet, generateKey, localKeys } from "hookproof/jwks";
import { createInspector, type Inspector, startInspector, startListeners } from "hookproof-service";
import { exchange } from "../../kit/loopback.js";

export const SECRET = "QSBrZXkgZm9yIEhvb2twcm9vZiB0ZXN0cyBvbmx5ISE";
const PAYLOAD = { type: "user.offboarded", userId: "u_123" };

/** Listeners with an inspector beside them. */
export interface Stage {
  readonly inspector: Inspector;
  /** The inspector's page. */
  readonly pageUrl: string;
  /** The HMAC listener; `strict` takes requests from elsewhere only, `tokens` is for JWTs. */
  readonly url: string;
  readonly strictUrl: string;
  readonly tokensUrl: string;
  readonly tokenSigner: Signer;
  /** Signs and sends an event to the HMAC listener; the status. */
  send(payload?: unknown, change?: (request: SignedRequest) => Partial<SignedRequest>): Promise<number>;
  /** Signs and sends to any listener. */
  sendTo(url: string, signer: Signer, options?: SendOptions): Promise<number>;
  stop(): Promise<void>;
}

interface SendOptions {
  readonly payload?: unknown;
  readonly timestamp?: number;
  readonly eventId?: string;
  readonly change?: (request: SignedRequest) => Partial<SignedRequest>;
}

/** Starts three listeners and the page; at the ports of an earlier stage to take its place. */
export async function openStage({
  historyFile,
  inPlaceOf,
  newToken = false,
}: {
  historyFile?: string;
  inPlaceOf?: Stage;
  /** The page of the earlier stage is locked out, as after every start of a command. */
  newToken?: boolean;
} = {}): Promise<Stage> {
  const key = await generateKey({ alg: "ES256", kid: "key-1" });
  const keys = localKeys(await createKeySet([key]).publicJwks());
  const tokenSigner = jwtSigner({ key: key.privateJwk, kid: key.kid, alg: key.alg });
  const auth = { method: "hmac", secret: SECRET } as const;
  const inspector = await createInspector({ historyFile });
  const listeners = await startListeners({
    inspector,
    port: portOf(inPlaceOf?.url),
    listeners: (baseUrl) => [
      { listener: { id: "lst_local", baseUrl, auth } },
      { listener: { id: "lst_strict", baseUrl, auth, allowedCidrs: ["203.0.113.0/24"] } },
      { listener: { id: "lst_tokens", baseUrl, auth: { method: "jwt", keys } }, signer: tokenSigner },
    ],
  });
  const server = await startInspector(inspector, {
    port: portOf(inPlaceOf?.pageUrl),
    token: inPlaceOf && !newToken ? new URL(inPlaceOf.pageUrl).hash.slice("#t=".length) : undefined,
  });
  const urlOf = (id: string) => `${listeners.url}/api/v1/webhooks/incoming/${id}`;
  const signer = hmacSigner({ secret: SECRET });

  async function sendTo(url: string, by: Signer, options: SendOptions = {}): Promise<number> {
    const { payload = PAYLOAD, timestamp, eventId, change = () => ({}) } = options;
    const event = createEvent(payload, { eventId });
    const request = await signRequest({ url, signer: by, event, timestamp });
    const [status] = await exchange(url, { ...request, ...change(request) });
    return status;
  }

  return {
    inspector,
    pageUrl: server.pageUrl,
    url: urlOf("lst_local"),
    strictUrl: urlOf("lst_strict"),
    tokensUrl: urlOf("lst_tokens"),
    tokenSigner,
    sendTo,
    send: (payload, change) =>
      sendTo(urlOf("lst_local"), signer, {
        ...(payload === undefined ? {} : { payload }),
        ...(change ? { change } : {}),
      }),
    async stop() {
      await server.stop();
      await listeners.stop();
    },
  };
}

function portOf(url: string | undefined): number {
  return url === undefined ? 0 : Number(new URL(url).port);
}

/** The mistake people make most: the secret looks like base64url, so they decode it. */
export function withDecodedSecret({
  headers,
  timestamp,
  eventId,
  body,
}: SignedRequest): Partial<SignedRequest> {
  const signature = createHmac("sha256", Buffer.from(SECRET, "base64url"))
    .update(`${timestamp}.${eventId}.`)
    .update(body)
    .digest("base64url");
  return { headers: { ...headers, "Webhook-Signature": signature } };
}
