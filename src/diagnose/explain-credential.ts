import type { KeyResolver } from "../jwt/key-resolver.js";
import {
  AUTHORIZATION_HEADER,
  EVENT_ID_HEADER,
  type ReceivedHeaders,
  SIGNATURE_HEADER,
  TIMESTAMP_HEADER,
} from "../protocol/headers.js";
import { listenerUrl } from "../protocol/listener-url.js";
import { single } from "./explain-headers.js";
import { explainSignature, type KnownSecret, SECRET_SENT } from "./explain-signature.js";
import { explainToken } from "./explain-token.js";
import type { Finding } from "./mistake.js";
import { TOKEN_MISTAKES } from "./token-mistakes.js";

/** A listener as far as the caller knows it; one of `hookproof/receiver` fits. */
export interface KnownListener {
  readonly id?: string | undefined;
  /** The tenant's base URL: the claim `sub`. */
  readonly baseUrl?: string | undefined;
  /** The listener's URL, the claim `aud`; worked out from `baseUrl` and `id` otherwise. */
  readonly url?: string | undefined;
  readonly auth?:
    | { readonly method: "hmac"; readonly secret: string | readonly string[] }
    | { readonly method: "jwt"; readonly keys?: KeyResolver | undefined }
    | undefined;
}

/** What the caller knows of a listener and its credentials. */
export interface KnownCredentials {
  readonly secret: string | readonly string[] | undefined;
  readonly listener: KnownListener | undefined;
  /** A key set's document. */
  readonly jwks: unknown;
}

/** A request, as far as a signature or a token can cover it. */
export interface CoveredRequest {
  readonly url: string | undefined;
  readonly headers: ReceivedHeaders;
  readonly body: Uint8Array;
  readonly nowSeconds: number;
}

/** What is wrong about the signature or the token, by the method that the listener demands. */
export async function explainCredential(
  { url, headers, body, nowSeconds }: CoveredRequest,
  { secret, listener, jwks }: KnownCredentials,
): Promise<Finding[]> {
  const secrets = knownSecrets(secret, listener);
  const [signature, authorization] = [SIGNATURE_HEADER, AUTHORIZATION_HEADER].map(
    (name) => headers.all(name)[0],
  );
  if (secrets.some(({ text }) => text.length >= TELLING_LENGTH && authorization?.includes(text)))
    return [{ mistake: SECRET_SENT }];
  const method = methodOf(
    demandedMethod(secrets.length > 0, jwks !== undefined, listener),
    signature,
    authorization,
  );
  if (method === undefined) return [];
  const [wanted, other] =
    method === "hmac" ? [SIGNATURE_HEADER, authorization] : [AUTHORIZATION_HEADER, signature];
  const missing = method === "hmac" ? TOKEN_MISTAKES.signatureMissing : TOKEN_MISTAKES.tokenMissing;
  if (headers.all(wanted).length !== 1) {
    if (headers.all(wanted).length === 0 && other !== undefined) {
      const isToken = /^(?:bearer )?[\w-]+\.[\w-]+\.[\w-]*$/i.test(other);
      const mistake = method === "jwt" && isToken ? TOKEN_MISTAKES.inOtherHeader : TOKEN_MISTAKES.otherMethod;
      return [{ mistake }];
    }
    return single(headers, wanted, missing, () => undefined);
  }
  const [timestamp = ""] = headers.all(TIMESTAMP_HEADER);
  const [eventId = ""] = headers.all(EVENT_ID_HEADER);
  if (method === "hmac")
    return explainSignature({ signature: signature ?? "", timestamp, eventId, body, secrets });
  const keys = listener?.auth?.method === "jwt" ? listener.auth.keys : undefined;
  const urls = expectedUrls(listener, url);
  return explainToken(
    authorization ?? "",
    { ...urls, timestamp, eventId, body, nowSeconds },
    { jwks, resolver: keys },
  );
}

/** A shorter secret may be part of a header by chance. */
const TELLING_LENGTH = 16;

type Method = "hmac" | "jwt";

function demandedMethod(
  hasSecret: boolean,
  hasKeys: boolean,
  listener: KnownListener | undefined,
): Method | undefined {
  if (listener?.auth) return listener.auth.method;
  if (hasSecret === hasKeys) return undefined;
  return hasSecret ? "hmac" : "jwt";
}

/** The method the listener demands, or else the one the request uses. */
function methodOf(
  demanded: Method | undefined,
  signature: string | undefined,
  authorization: string | undefined,
): Method | undefined {
  if (demanded !== undefined) return demanded;
  if (signature !== undefined) return "hmac";
  return authorization === undefined ? undefined : "jwt";
}

function knownSecrets(
  secret: KnownCredentials["secret"],
  listener: KnownListener | undefined,
): readonly KnownSecret[] {
  const own = listener?.auth?.method === "hmac" ? textsOf(listener.auth.secret, "listener.auth.secret") : [];
  const given = textsOf(secret ?? [], "secret").filter((text) => !own.includes(text));
  return [
    ...own.map((text) => ({ text, accepted: true })),
    ...given.map((text) => ({ text, accepted: own.length === 0 })),
  ];
}

function textsOf(secret: string | readonly string[], name: string): readonly string[] {
  const texts = typeof secret === "string" ? [secret] : secret;
  if (!Array.isArray(texts) || texts.some((text) => typeof text !== "string"))
    throw new TypeError(`${name} must be a string or a list of strings`);
  return texts;
}

const INGESTION = /^(https?:\/\/[^?#]*)\/api\/v1\/webhooks\/incoming\/[^/?#]+$/;

/** What sub and aud must be: configuration first, then the request's own URL where it is whole. */
function expectedUrls(
  listener: KnownListener | undefined,
  requestUrl: string | undefined,
): { url: string | undefined; baseUrl: string | undefined } {
  const { id, baseUrl } = listener ?? {};
  const plain = baseUrl?.replace(/\/$/, "");
  const built = plain !== undefined && id !== undefined ? listenerUrl(plain, id) : undefined;
  const url = listener?.url ?? built ?? (INGESTION.test(requestUrl ?? "") ? requestUrl : undefined);
  return { url, baseUrl: plain ?? INGESTION.exec(url ?? "")?.[1] };
}
