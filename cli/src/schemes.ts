import { randomUUID } from "node:crypto";
import { type Clock, generateSecret, type SigningKey } from "hookproof";
import type {
  HttpSignatureInput,
  OtherScheme,
  SecurityEventInput,
  StandardWebhooksInput,
} from "hookproof/diagnose";
import type { KeyResolver } from "hookproof/jwks";
import type { SchemeProbeTarget } from "hookproof/probes";
import type { SchemeSigner, Verifier } from "hookproof/schemes";
import type { CapturedRequest } from "./capture/raw-request.js";
import { changedHeader, changedProbe, keyLike, otherKey, unsignedToken } from "./scheme-probes.js";
import { EXAMPLE_EVENTS } from "./send/example-events.js";

/** A scheme's name, and what sender and receiver agree on beside the secret or key; nothing of it is secret. */
export interface SchemeSettings {
  readonly name: string;
  readonly issuer?: string | undefined;
  readonly audience?: string | undefined;
  readonly keyId?: string | undefined;
}

/** What a command has to sign with: secrets or a key, and the settings. */
type Signing = Omit<SchemeSettings, "name"> & {
  readonly secrets?: readonly string[];
  readonly key?: SigningKey;
};

/** What a command has to verify with. */
export type Verifying = Omit<SchemeSettings, "name"> & {
  readonly secrets?: readonly string[];
  readonly keys?: KeyResolver | undefined;
  /** The receiver's URL. */
  readonly url?: string | undefined;
  /** The receiver's time, for the mistakes. */
  readonly clock?: Clock;
};

/** What proves a request: a shared secret, or a private key of which the receiver has the public half. */
export type Proof = "secret" | "key";

/** A scheme besides the default one, as the commands use it. */
export interface CliScheme {
  /** The scheme's name in words. */
  readonly title: string;
  /** What it can be proved with. */
  readonly proofs: readonly Proof[];
  /** The flags that it has, and the proofs that do not work without. */
  readonly flags: Readonly<Partial<Record<SchemeFlag, readonly Proof[]>>>;
  /** Whether a copy of an event is answered as the event was, so that nobody can tell them apart from outside. */
  readonly answersCopiesAlike?: boolean;
  /** Whether a proof is for one URL. */
  readonly bindsUrl?: boolean;
  /** What a local listener expects where no flag says it; `url` is its own. */
  local(url: string): Omit<SchemeSettings, "name">;
  /** Makes a secret for a local listener; absent for a scheme that has none. */
  newSecret?(): Promise<string>;
  /** The flag of a payload that the scheme can sign, where not every one will do. */
  readonly sample?: string;
  /** What a refused secret should have been. */
  readonly secretHint?: string;
  signer(signing: Signing): Promise<SchemeSigner>;
  verifier(verifying: Verifying): Promise<Verifier>;
  /** The name that a signer and `diagnose` have for it. */
  readonly scheme: OtherScheme;
  /** What `diagnose` is asked for the mistakes behind a refusal. */
  question(
    request: CapturedRequest,
    verifying: Verifying,
  ): HttpSignatureInput | SecurityEventInput | StandardWebhooksInput;
  /** What `test` sends to a listener beside correct requests. */
  probing(signing: Signing): Promise<Probing>;
  /** When a request was signed, in Unix seconds, by what it says itself. */
  signedAt(request: CapturedRequest): string | undefined;
}

/** What the probes of a scheme are made of. */
type Probing = Omit<SchemeProbeTarget, "url" | "signer">;

/** Every scheme of `--scheme`; no other file names one. Each is loaded when it is used. */
export const SCHEMES: Readonly<Record<string, CliScheme>> = {
  "standard-webhooks": {
    title: "Standard Webhooks",
    proofs: ["secret"],
    flags: {},
    answersCopiesAlike: true,
    local: () => ({}),
    newSecret: async () => (await import("hookproof/standard-webhooks")).generateStandardSecret(),
    secretHint: "Give the secret as the other side shows it, with its prefix.",
    signer: async ({ secrets = [] }) =>
      (await import("hookproof/standard-webhooks")).standardWebhooks({ secrets }),
    verifier: async ({ secrets = [] }) =>
      (await import("hookproof/standard-webhooks")).standardWebhooksVerifier({ secrets }),
    async probing() {
      const { generateStandardSecret, standardWebhooks } = await import("hookproof/standard-webhooks");
      const signature = (of: (value: string) => string) => changedHeader("webhook-signature", of);
      return {
        specification: "Standard Webhooks",
        wrongSigners: [otherKey(standardWebhooks({ secrets: generateStandardSecret() }))],
        wrongChanges: [
          changedProbe(
            "version-unknown",
            "a signature of an unknown version",
            signature((value) => value.replace("v1,", "v9,")),
          ),
          changedProbe(
            "many-wrong-signatures",
            "a list of 100 wrong signatures",
            signature(() =>
              Array(100)
                .fill(`v1,${"A".repeat(43)}=`)
                .join(" "),
            ),
          ),
          changedProbe(
            "id-changed",
            "another id than was signed",
            changedHeader("webhook-id", () => "msg_other"),
          ),
        ],
      };
    },
    scheme: "standard-webhooks",
    question: (request, { secrets = [] }) => ({ scheme: "standard-webhooks", request, secrets }),
    signedAt: ({ headers }) => headerOf(headers, "webhook-timestamp"),
  },
  set: {
    title: "security event tokens",
    proofs: ["key"],
    flags: { issuer: ["key"], audience: ["key"] },
    answersCopiesAlike: true,
    local: (url) => ({ issuer: "local", audience: url }),
    sample: "--event session.revoked",
    signer: async ({ key, issuer = "", audience = "" }) =>
      (await import("hookproof/set")).securityEventSigner({ key: key as SigningKey, issuer, audience }),
    verifier: async ({ keys, issuer = "", audience = "" }) =>
      (await import("hookproof/set")).securityEventVerifier({ keys: keys as KeyResolver, issuer, audience }),
    async probing({ key, issuer = "", audience = "" }) {
      const { securityEventSigner } = await import("hookproof/set");
      const signer = (change: object) =>
        securityEventSigner({ key: key as SigningKey, issuer, audience, ...change });
      return {
        specification: "RFC 8417 and RFC 8935",
        payload: JSON.stringify(EXAMPLE_EVENTS["session.revoked"]),
        tooOldSeconds: 8 * 86_400,
        wrongSigners: [
          otherKey(signer({ key: await keyLike(key as SigningKey) })),
          {
            id: "iss-of-other",
            title: "a token of another issuer",
            means: "Whoever has a key of the set can speak for another issuer.",
            fix: "Compare iss letter by letter.",
            signer: signer({ issuer: `${issuer}other` }),
          },
          {
            id: "aud-of-other",
            title: "a token for another receiver",
            means: "Another receiver of the same issuer can pass its tokens on.",
            fix: "Compare aud, a text or a list of them, with the receiver's own name.",
            signer: signer({ audience: `${audience}other` }),
          },
        ],
        wrongChanges: [
          changedProbe("content-type-of-json", "a token as application/json", (request) => ({
            ...request,
            headers: [["Content-Type", "application/json"]],
          })),
          changedProbe("alg-none", "a token with alg none", ({ headers, body }) => ({
            headers,
            body: Buffer.from(unsignedToken(body)),
          })),
        ],
      };
    },
    scheme: "security-event-token",
    question: (request, { issuer, audience, keys, clock }) => ({
      scheme: "security-event-token",
      request,
      issuer,
      audience,
      keys,
      clock,
    }),
    signedAt: ({ body }) => /"iat":\s*([0-9]{1,15})\b/.exec(claimsText(body))?.[1],
  },
  "http-signature": {
    title: "HTTP message signatures",
    proofs: ["secret", "key"],
    flags: { "key-id": ["secret"] },
    bindsUrl: true,
    local: () => ({ keyId: "local" }),
    newSecret: async () => generateSecret(),
    secretHint: "A shared secret has at least 32 bytes; hookproof secret generate makes one.",
    async signer({ secrets: [secret] = [], key, keyId = "" }) {
      const { httpSignatureSigner } = await import("hookproof/http-signature");
      return secret === undefined
        ? httpSignatureSigner({ key: key as SigningKey })
        : httpSignatureSigner({ secret, keyId });
    },
    async probing({ secrets: [secret] = [], key, keyId = "" }) {
      const { httpSignatureSigner } = await import("hookproof/http-signature");
      const other =
        key === undefined || secret !== undefined
          ? httpSignatureSigner({ secret: generateSecret(), keyId })
          : httpSignatureSigner({ key: await keyLike(key) });
      const unknown =
        key === undefined || secret !== undefined
          ? httpSignatureSigner({ secret: secret ?? "", keyId: `${keyId}-other` })
          : httpSignatureSigner({ key: { ...key, kid: `${key.kid}-other` } });
      return {
        specification: "RFC 9421 and RFC 9530",
        wrongSigners: [
          otherKey(other),
          {
            id: "keyid-unknown",
            title: "a request of an unknown keyid",
            means: "A key is chosen that the sender did not name.",
            fix: "Look the key up by keyid, and refuse what is not found.",
            signer: unknown,
          },
        ],
        wrongChanges: [
          changedProbe(
            "event-id-changed",
            "another event id than was signed",
            changedHeader("Webhook-Event-Id", () => randomUUID()),
          ),
          changedProbe(
            "alg-changed",
            "another alg than was signed",
            changedHeader("Signature-Input", (value) => value.replace(/alg="[^"]*"/, 'alg="rsa-pss-sha512"')),
          ),
          changedProbe(
            "created-changed",
            "another created than was signed",
            changedHeader("Signature-Input", (value) =>
              value.replace(/created=(\d+)/, (_, at) => `created=${Number(at) - 1}`),
            ),
          ),
        ],
      };
    },
    verifier: async (verifying) =>
      (await import("hookproof/http-signature")).httpSignatureVerifier(keysByName(verifying)),
    scheme: "http-signature",
    question: (request, verifying) => ({
      scheme: "http-signature",
      request,
      clock: verifying.clock,
      ...keysByName(verifying),
    }),
    signedAt: ({ headers }) => /;created=([0-9]{1,15})/.exec(headerOf(headers, "signature-input") ?? "")?.[1],
  },
};

/** What verifies HTTP message signatures: a key set, or a secret under its name. */
function keysByName({ secrets: [secret] = [], keys, keyId = "", url = "" }: Verifying) {
  return { url, keys, ...(secret === undefined ? {} : { secrets: { [keyId]: secret } }) };
}

function headerOf(headers: CapturedRequest["headers"], wanted: string): string | undefined {
  return headers.find(([name]) => name.toLowerCase() === wanted)?.[1];
}

/** The claims of a body that is a token. */
function claimsText(body: Uint8Array): string {
  return Buffer.from(Buffer.from(body).toString("latin1").split(".")[1] ?? "", "base64url").toString("utf8");
}

export type SchemeFlag = "issuer" | "audience" | "key-id";

/** The names of all schemes besides the default one. */
export const SCHEME_NAMES: readonly string[] = Object.keys(SCHEMES);
