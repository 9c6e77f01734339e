// The table of all settings: their names, forms and defaults.
import { dirname, resolve } from "node:path";
import { SCHEME_NAMES } from "../schemes/schemes.js";

/** A listener's id, as it stands in a path. */
export const LISTENER_ID: RegExp = /^[A-Za-z0-9_-]{1,128}$/;

/** Where the service takes events, below its base URL: the path before a listener's id. */
export const INGESTION_PATH = "/api/v1/webhooks/incoming/";

/** A value of a setting: one text, several, or a whole number. */
export type SettingValue = string | number | readonly string[];

/** What a setting is: its kind decides which values are allowed. */
export interface SettingRule {
  readonly kind: "text" | "texts" | "path" | "paths" | "key" | "duration" | "number" | "choice";
  readonly describe: string;
  readonly choices?: readonly string[];
  /** What a value of the kind `path` begins with where it is an address and no file. */
  readonly address?: RegExp;
  /** The environment variable. */
  readonly env: string;
  /** The environment variable with the name of a file that holds the value, for what may have a password in it. */
  readonly envFile?: string;
  /** The flag of the commands that have it. */
  readonly flag?: string;
  readonly fallback?: SettingValue;
}

/** How many attempts there may be after the first. */
export const RETRIES = [0, 100] as const;

/** Every setting, in the order in which `profile show` shows them. */
export const SETTINGS = {
  target: {
    kind: "text",
    env: "HOOKPROOF_TARGET",
    describe: "the listener's URL, or :4400 for the local listener on that port",
  },
  method: {
    kind: "choice",
    choices: ["hmac", "jwt"],
    env: "HOOKPROOF_METHOD",
    flag: "method",
    describe: "how requests are authenticated",
  },
  secretFiles: {
    kind: "paths",
    env: "HOOKPROOF_SECRET_FILE",
    flag: "secret-file",
    describe: "files with the signing secret; two (new, old) during a rotation",
  },
  key: {
    kind: "key",
    env: "HOOKPROOF_KEY",
    flag: "key",
    describe: "the kid of a key in the store, or a file with a private JWK",
  },
  kid: {
    kind: "text",
    env: "HOOKPROOF_KID",
    describe: "where key is a file: the key's id in the key set, as a PEM has none",
  },
  store: { kind: "path", env: "HOOKPROOF_STORE", flag: "store", describe: "the key store's folder" },
  baseUrl: {
    kind: "text",
    env: "HOOKPROOF_BASE_URL",
    flag: "base-url",
    describe: "the tenant's base URL, the claim sub of tokens",
  },
  ca: { kind: "path", env: "HOOKPROOF_CA", flag: "ca", describe: "a CA certificate in PEM to trust" },
  cert: {
    kind: "path",
    env: "HOOKPROOF_CERT",
    flag: "cert",
    describe: "a client certificate in PEM, for a target that asks for one",
  },
  keyFile: {
    kind: "path",
    env: "HOOKPROOF_KEY_FILE",
    flag: "key-file",
    describe: "the private key of the client certificate in PEM, unless its file has it",
  },
  keyPassphraseFile: {
    kind: "path",
    env: "HOOKPROOF_KEY_PASSPHRASE_FILE",
    flag: "key-passphrase-file",
    describe: "a file with the passphrase of that key",
  },
  headerFiles: {
    kind: "paths",
    env: "HOOKPROOF_HEADER_FILE",
    describe: "files with header lines to send to the target, such as Authorization: Basic dTpw",
  },
  plainHttp: {
    kind: "texts",
    env: "HOOKPROOF_PLAIN_HTTP",
    flag: "plain-http",
    describe: "in development: names, such as a container's, to which http:// is allowed",
  },
  scheme: {
    kind: "choice",
    choices: SCHEME_NAMES,
    env: "HOOKPROOF_SCHEME",
    flag: "scheme",
    describe: "another scheme than the service's own",
  },
  issuer: {
    kind: "text",
    env: "HOOKPROOF_ISSUER",
    flag: "issuer",
    describe: "who issues the tokens, the claim iss",
  },
  audience: {
    kind: "text",
    env: "HOOKPROOF_AUDIENCE",
    flag: "audience",
    describe: "who receives the tokens, the claim aud",
  },
  keyId: {
    kind: "text",
    env: "HOOKPROOF_KEY_ID",
    flag: "key-id",
    describe: "the name of a shared secret, the parameter keyid",
  },
  headerNames: {
    kind: "choice",
    choices: ["webhook", "svix", "x-webhook"],
    env: "HOOKPROOF_HEADER_NAMES",
    flag: "header-names",
    describe: "what stands before -id in the names of the scheme's headers, where they differ",
  },
  secretForm: {
    kind: "choice",
    choices: ["prefixed", "base64", "raw"],
    env: "HOOKPROOF_SECRET_FORM",
    flag: "secret-form",
    describe: "how the scheme's secret is written, where it differs",
  },
  padding: {
    kind: "choice",
    choices: ["strict", "loose"],
    env: "HOOKPROOF_PADDING",
    flag: "padding",
    describe: "whether base64 of the scheme's secret may have wrong padding or last bits",
  },
  jwks: {
    kind: "path",
    address: /^https?:/,
    env: "HOOKPROOF_JWKS",
    flag: "jwks",
    describe: "the sender's key set, to verify with: a URL or a file",
  },
  outbox: {
    kind: "path",
    address: /^postgres(?:ql)?:\/\//,
    env: "HOOKPROOF_OUTBOX",
    envFile: "HOOKPROOF_OUTBOX_FILE",
    flag: "outbox",
    describe: "the outbox: a SQLite file, or the URL of a PostgreSQL database",
  },
  timeout: {
    kind: "duration",
    env: "HOOKPROOF_TIMEOUT",
    flag: "timeout",
    fallback: "10s",
    describe: "limit for one call, such as 10s",
  },
  retries: {
    kind: "number",
    env: "HOOKPROOF_RETRIES",
    flag: "retries",
    fallback: 2,
    describe: "attempts after the first",
  },
} as const satisfies Record<string, SettingRule>;

/**
 * The settings of a target and its credential. They are taken from one file together: otherwise the file of a folder
 * could send the user's own secret to another target.
 */
export const TOGETHER: ReadonlySet<string> = new Set([
  "target",
  "method",
  "secretFiles",
  "key",
  "kid",
  "store",
  "baseUrl",
  "ca",
  "cert",
  "keyFile",
  "keyPassphraseFile",
  "headerFiles",
  "plainHttp",
  "scheme",
  "issuer",
  "audience",
  "keyId",
  "headerNames",
  "secretForm",
  "padding",
  "jwks",
  "outbox",
]);

export type SettingName = keyof typeof SETTINGS;

/** The settings of one profile, or those that every profile shares. */
export type SettingValues = { readonly [Name in SettingName]?: SettingValue };

export const SETTING_NAMES = Object.keys(SETTINGS) as SettingName[];

/** What is wrong with a value, in words; undefined if nothing is. */
export function wrongValue({ kind, choices = [] }: SettingRule, value: unknown): string | undefined {
  if ([value].flat().some((item) => typeof item === "string" && item.includes("\0")))
    return "must not hold a NUL character";
  const isText = typeof value === "string" && value !== "";
  switch (kind) {
    case "number":
      return Number.isInteger(value) && (value as number) >= RETRIES[0] && (value as number) <= RETRIES[1]
        ? undefined
        : `must be a whole number from ${RETRIES[0]} to ${RETRIES[1]}`;
    case "paths":
      return Array.isArray(value) && value.length > 0 && value.every((item) => isFilled(item))
        ? undefined
        : "must be a list of file names";
    case "texts":
      return Array.isArray(value) && value.length > 0 && value.every((item) => isFilled(item))
        ? undefined
        : "must be a list of texts";
    case "choice":
      return isText && choices.includes(value) ? undefined : `must be one of ${choices.join(", ")}`;
    case "duration":
      return isText && /^[0-9]+(?:\.[0-9]+)?(?:ms|s|m|h|d)$/.test(value)
        ? undefined
        : "must be a duration such as 10s, 5m or 250ms";
    default:
      return isText ? undefined : "must be a text that is not empty";
  }
}

function isFilled(value: unknown): boolean {
  return typeof value === "string" && value !== "";
}

/** The value of an environment variable in the setting's own type. */
export function fromEnvironment({ kind }: SettingRule, text: string): unknown {
  if (kind === "number") return /^[0-9]+$/.test(text) ? Number(text) : text;
  return kind === "paths" || kind === "texts" ? [text] : text;
}

/** Whether a setting's value is an address. Every other text is a file's name, whatever a driver would take it for. */
export function isAddress(name: SettingName, value: string): boolean {
  const { address }: SettingRule = SETTINGS[name];
  return address?.test(value) === true;
}

/** File names of a configuration are relative to the file that holds it. */
export function anchored({ kind, address }: SettingRule, value: SettingValue, file: string): SettingValue {
  const anchor = (path: string) => resolve(dirname(file), path);
  if (kind === "path" && typeof value === "string") return address?.test(value) ? value : anchor(value);
  if (kind === "paths" && typeof value === "object") return value.map(anchor);
  if (kind === "key" && typeof value === "string" && /[/\\]|\.(?:json|jwk)$/.test(value))
    return anchor(value);
  return value;
}

/** The JSON Schema of a configuration file, for editors; `hookproof.schema.json` holds it. */
export function configSchema(): Record<string, unknown> {
  const settings = Object.fromEntries(SETTING_NAMES.map((name) => [name, schemaOf(SETTINGS[name])]));
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    title: "Configuration of hookproof",
    description:
      "References only: a secret is stored with hookproof secret set, or lies in a file that is named here.",
    type: "object",
    additionalProperties: false,
    properties: {
      $schema: { type: "string" },
      profile: {
        description: "the profile that is used when none is named",
        $ref: "#/definitions/profileName",
      },
      ...settings,
      profiles: {
        description: "settings of their own for several listeners; they come before the shared ones",
        type: "object",
        propertyNames: { $ref: "#/definitions/profileName" },
        additionalProperties: { type: "object", additionalProperties: false, properties: settings },
      },
    },
    definitions: {
      profileName: { type: "string", pattern: "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$" },
    },
  };
}

function schemaOf({ kind, describe: description, choices, fallback }: SettingRule): Record<string, unknown> {
  const common = { description, ...(fallback === undefined ? {} : { default: fallback }) };
  switch (kind) {
    case "number":
      return { ...common, type: "integer", minimum: RETRIES[0], maximum: RETRIES[1] };
    case "texts":
    case "paths":
      return { ...common, type: "array", minItems: 1, items: { type: "string", minLength: 1 } };
    case "choice":
      return { ...common, enum: choices };
    case "duration":
      return { ...common, type: "string", pattern: "^[0-9]+(\\.[0-9]+)?(ms|s|m|h|d)$" };
    default:
      return { ...common, type: "string", minLength: 1 };
  }
}
