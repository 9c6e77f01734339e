// The table of schemes for `--scheme`: what each needs to sign, verify and diagnose.
import { generateSecret, type Signer, type SigningKey } from "hookproof";
import type {
  HttpSignatureInput,
  OtherScheme,
  SecurityEventInput,
  StandardWebhooksInput,
} from "hookproof/diagnose";
import type { Jwks, KeyResolver } from "hookproof/jwks";
import type { SchemeSetup } from "hookproof/probes";
import type { Verifier } from "hookproof/schemes";
import type { CapturedRequest } from "../capture/raw-request.js";
import { timesOfToken } from "../capture/request-time.js";

/** A scheme's name, and what sender and receiver agree on besides the secret or key; nothing of it is secret. */
export interface SchemeSettings {
  readonly name: string;
  readonly issuer?: string | undefined;
  readonly audience?: string | undefined;
  readonly keyId?: string | undefined;
  /** How Standard Webhooks' headers are named: what stands before `-id`. */
  readonly headerNames?: string | undefined;
  /** How a secret of Standard Webhooks is written. */
  readonly secretForm?: string | undefined;
  /** `loose` where base64 of a secret may have wrong padding or last bits. */
  readonly padding?: string | undefined;
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
  /** The document of the key set, for the mistakes. */
  readonly jwks?: Jwks | undefined;
  /** The receiver's URL. */
  readonly url?: string | undefined;
};

/** What proves a request: a shared secret, or a private key of which the receiver has the public half. */
export type Proof = "secret" | "key";

/** A flag of a scheme. */
interface SchemeOption {
  /** The proofs that do not work without. */
  readonly proofs: readonly Proof[];
  /** What stands in the help for its value, or which values there are, and what it is. */
  readonly value?: string;
  readonly choices?: readonly string[];
  readonly describe: string;
  /** What it is, for somebody who has left it out. */
  readonly meaning?: string;
}

/** A scheme besides the default one, as the commands use it. */
export interface CliScheme {
  /** The scheme's name in words. */
  readonly title: string;
  /** What it can be proved with. */
  readonly proofs: readonly Proof[];
  /** The flags that it has. */
  readonly flags: Readonly<Partial<Record<SchemeFlag, SchemeOption>>>;
  /** Whether a copy of an event is answered as the event was, so that nobody can tell them apart from outside. */
  readonly answersCopiesAlike?: boolean;
  /** Whether a proof is for one URL. */
  readonly bindsUrl?: boolean;
  /** What a local listener expects where no flag says it; `url` is its own. */
  local(url: string): Omit<SchemeSettings, "name">;
  /** Makes a secret for a local listener; absent for a scheme that has none. */
  newSecret?(agreed: Pick<SchemeSettings, "secretForm">): Promise<string>;
  /** An example event that the scheme can sign, where not every one will do. */
  readonly example?: string;
  /** What a refused secret should have been. */
  readonly secretHint?: string;
  signer(signing: Signing): Promise<Signer>;
  verifier(verifying: Verifying): Promise<Verifier>;
  /** The name that a signer and `diagnose` have for it. */
  readonly scheme: OtherScheme;
  /** What `diagnose` is asked for the mistakes behind a refusal, besides the time. */
  question(
    request: CapturedRequest,
    verifying: Verifying,
  ): HttpSignatureInput | SecurityEventInput | StandardWebhooksInput;
  /** What `test` probes a listener with. */
  probed(url: string, signing: Signing): SchemeSetup;
  /** When a request was signed, by what it says itself, as it is written there; the likeliest text first. */
  signedAt(request: CapturedRequest): readonly (string | undefined)[];
}

/** Every scheme of `--scheme`; no other file names one. Each is loaded when it is used. */
export const SCHEMES: Readonly<Record<string, CliScheme>> = {
  "standard-webhooks": {
    title: "Standard Webhooks",
    proofs: ["secret"],
    flags: {
      "header-names": {
        proofs: [],
        choices: ["webhook", "svix", "x-webhook"],
        describe: "with --scheme standard-webhooks: what stands before -id in the headers' names",
      },
      "secret-form": {
        proofs: [],
        choices: ["prefixed", "base64", "raw"],
        describe: "with --scheme standard-webhooks: how the secret is written; raw: its text is the key",
      },
      padding: {
        proofs: [],
        choices: ["strict", "loose"],
        describe: "with --scheme standard-webhooks: loose takes base64 with wrong padding or last bits",
      },
    },
    answersCopiesAlike: true,
    local: () => ({}),
    async newSecret({ secretForm = "prefixed" }) {
      const secret = (await import("hookproof/standard-webhooks")).generateStandardSecret();
      return secretForm === "prefixed" ? secret : secret.replace("whsec_", "");
    },
    secretHint:
      "Give the secret as the other side shows it. One without whsec_ needs --secret-form base64 or raw, and base64 that no encoder writes --padding loose.",
    signer: async (signing) =>
      (await import("hookproof/standard-webhooks")).standardWebhooksSigner(standardForms(signing)),
    verifier: async (verifying) =>
      (await import("hookproof/standard-webhooks")).standardWebhooksVerifier(standardForms(verifying)),
    scheme: "standard-webhooks",
    probed: (url, signing) => ({ scheme: "standard-webhooks", url, ...standardForms(signing) }),
    question: (request, verifying) => ({
      scheme: "standard-webhooks",
      request,
      ...standardForms(verifying),
    }),
    signedAt: ({ headers }) =>
      ["webhook", "svix", "x-webhook"].map((prefix) => headerOf(headers, `${prefix}-timestamp`)),
  },
  set: {
    title: "security event tokens",
    proofs: ["key"],
    flags: {
      issuer: {
        proofs: ["key"],
        value: "<text>",
        describe: "with --scheme set: the claim iss",
        meaning:
          "It is the claim iss, letter by letter as the receiver expects it, such as https://idp.example.com/",
      },
      audience: {
        proofs: ["key"],
        value: "<text>",
        describe: "with --scheme set: the claim aud",
        meaning:
          "It is the claim aud: who the receiver is, letter by letter, such as https://receiver.example.com/",
      },
    },
    answersCopiesAlike: true,
    local: (url) => ({ issuer: "local", audience: url }),
    example: "session.revoked",
    signer: async ({ key, issuer = "", audience = "" }) =>
      (await import("hookproof/set")).securityEventSigner({ key: key as SigningKey, issuer, audience }),
    verifier: async ({ keys, issuer = "", audience = "" }) =>
      (await import("hookproof/set")).securityEventVerifier({ keys: keys as KeyResolver, issuer, audience }),
    scheme: "security-event-token",
    probed: (url, { key, issuer = "", audience = "" }) => ({
      scheme: "security-event-token",
      url,
      key: key as SigningKey,
      issuer,
      audience,
    }),
    question: (request, { issuer, audience, keys, jwks }) => ({
      scheme: "security-event-token",
      request,
      issuer,
      audience,
      keys,
      jwks,
    }),
    signedAt: ({ body }) => timesOfToken(Buffer.from(body).toString("latin1")),
  },
  "http-signature": {
    title: "HTTP message signatures",
    proofs: ["secret", "key"],
    flags: {
      "key-id": {
        proofs: ["secret"],
        value: "<name>",
        describe: "with --scheme http-signature and a secret: the secret's name, keyid",
        meaning: "It is the parameter keyid: the name under which the receiver knows the secret.",
      },
    },
    bindsUrl: true,
    local: () => ({ keyId: "local" }),
    newSecret: async () => generateSecret(),
    secretHint: "A shared secret has at least 32 bytes; hookproof secret generate makes one.",
    signer: async (signing) =>
      (await import("hookproof/http-signature")).httpSignatureSigner(keyOrSecret(signing)),
    verifier: async (verifying) =>
      (await import("hookproof/http-signature")).httpSignatureVerifier(keysByName(verifying)),
    scheme: "http-signature",
    probed: (url, signing) => ({ scheme: "http-signature", url, ...keyOrSecret(signing) }),
    question: (request, verifying) => ({
      scheme: "http-signature",
      request,
      jwks: verifying.jwks,
      ...keysByName(verifying),
    }),
    signedAt: ({ headers }) => {
      const input = headerOf(headers, "signature-input") ?? "";
      return [parameterOf(input, CREATED), parameterOf(input, EXPIRES)];
    },
  },
};

/** What sender and receiver of Standard Webhooks agree on, in the library's words; the choices are the flags'. */
function standardForms({ secrets = [], headerNames, secretForm, padding }: Signing | Verifying) {
  return {
    secrets,
    headerNames: headerNames as "webhook" | "svix" | "x-webhook" | undefined,
    secretForm: secretForm as "prefixed" | "base64" | "raw" | undefined,
    loosePadding: padding === undefined ? undefined : padding === "loose",
  };
}

/** What signs HTTP message signatures: a secret with its name, or a key. */
function keyOrSecret({ secrets: [secret] = [], key, keyId = "" }: Signing) {
  return secret === undefined ? { key: key as SigningKey } : { secret, keyId };
}

/** What verifies HTTP message signatures: a key set, or a secret under its name. */
function keysByName({ secrets: [secret] = [], keys, keyId = "", url = "" }: Verifying) {
  return { url, keys, ...(secret === undefined ? {} : { secrets: { [keyId]: secret } }) };
}

function headerOf(headers: CapturedRequest["headers"], wanted: string): string | undefined {
  return headers.find(([name]) => name.toLowerCase() === wanted)?.[1];
}

/** A parameter of Signature-Input, without quotes where it has them. */
function parameterOf(input: string, written: RegExp): string | undefined {
  const [, text, number] = written.exec(input) ?? [];
  return text ?? number?.trim();
}

const CREATED = /; ?created=(?:"([^"]{0,64})"|([^;,"]{1,64}))/;
const EXPIRES = /; ?expires=(?:"([^"]{0,64})"|([^;,"]{1,64}))/;

export type SchemeFlag = "issuer" | "audience" | "key-id" | "header-names" | "secret-form" | "padding";

/** The names of all schemes besides the default one. */
export const SCHEME_NAMES: readonly string[] = Object.keys(SCHEMES);
