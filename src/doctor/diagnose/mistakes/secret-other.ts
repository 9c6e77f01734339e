// Rows of keys that are something else than the secret, or have something else around it.
import { utf8 } from "../../../core/bytes.js";
import type { RepeatableMistake } from "../../rows/mistake.js";
import {
  afterAssignment,
  filled,
  hashInHex,
  insideOfJson,
  type KeyOfSecret,
  listenerOf,
} from "./secret-keys.js";

/** Names that people give to the member, and to the variable, with the secret. */
const JSON_NAMES = [
  ...["secret", "webhook_secret", "webhookSecret", "signing_secret", "WEBHOOK_SECRET"],
  ...[
    "signingSecret",
    "key",
    "value",
    "current",
    "hmacSecret",
    "hmac_secret",
    "token",
    "password",
    "SecretString",
  ],
];
const VARIABLES = [
  ...["WEBHOOK_SECRET", "HOOKPROOF_SECRET", "SIGNING_SECRET", "WEBHOOK_SIGNING_SECRET", "SECRET"],
  ...["HMAC_SECRET", "WEBHOOK_KEY"],
];

/** Where Node keeps variables; this file reads none. */
const NODE_VARIABLES = ["process", "env"].join(".");

/** How many names of each list are usual; the others are hardly ever seen. */
const USUAL_NAMES = 5;

function weightOf(names: readonly string[], name: string): 3 | 4 {
  return names.indexOf(name) < USUAL_NAMES ? 3 : 4;
}

/** Examples and masks. */
const PLACEHOLDERS = [
  ...["secret", "your-secret", "your_secret", "your_secret_here", "your-webhook-secret"],
  ...["changeme", "change-me", "test", "mysecret", "my-secret", "webhook_secret", "webhook-secret", "xxx"],
  ...[
    "<secret>",
    "<SIGNING_SECRET>",
    "<your-secret>",
    "***",
    "********",
    "**********",
    "****************",
    "whsec_...",
    "redacted",
  ],
  ...[
    "[REDACTED]",
    "whsec_********",
    "REPLACE_ME",
    "TODO",
    "dummy",
    "password",
    "/run/secrets/webhook_secret",
  ],
];

/** Something else than the secret's text is the key. */
export const OTHER_KEY_MISTAKES: readonly RepeatableMistake<KeyOfSecret>[] = [
  {
    id: "secret-as-object",
    title: "An object in place of the secret",
    message: "It matches if the key is the text of an object, such as [object Object], or of a promise.",
    fix: "Take the text out of the object, and await it: const { secret } = await loadSecret().",
    ways: [
      "Object",
      "Promise",
      "ArrayBuffer",
      "Uint8Array",
      "CryptoKey",
      "Buffer",
      "KeyObject",
      "String",
    ].map((kind) => [4, () => utf8(`[object ${kind}]`)] as const),
  },
  {
    id: "secret-is-other-value",
    title: "Another value in place of the secret",
    message:
      "It matches if the key is another value that is at hand: the listener's id or URL, the event id or the timestamp.",
    fix: "Use the secret that the service shows for this listener, and look at the order of the arguments.",
    ways: [
      [3, (_, around) => around && filled(listenerOf(around.url))],
      [3, (_, around) => around && filled(around.eventId)],
      [3, (_, around) => around && filled(around.timestamp)],
      [3, (_, around) => around && filled(around.url)],
      [3, (_, around) => around && filled(/^https?:\/\/([^/?#]+)/i.exec(around.url)?.[1] ?? "")],
      [3, (_, around) => around?.body],
    ],
  },
  {
    id: "secret-placeholder",
    title: "A placeholder in place of the secret",
    message: "It matches if the key is an example or a mask, such as your-secret, changeme or ****.",
    fix: "Set the secret that the service shows for this listener, and stop when it is missing.",
    ways: PLACEHOLDERS.map((text) => [4, () => utf8(text)] as const),
  },
  {
    id: "secret-in-json",
    title: "JSON around the secret",
    message:
      "It matches if the key is the JSON that a secrets manager stores, with the secret in one member.",
    fix: "Take the member out of it: JSON.parse(SecretString).secret.",
    ways: [
      ...JSON_NAMES.flatMap((name) => [
        [weightOf(JSON_NAMES, name), (secret: string) => utf8(`{"${name}":"${secret}"}`)] as const,
        [weightOf(JSON_NAMES, name), (secret: string) => utf8(`{"${name}": "${secret}"}`)] as const,
      ]),
      [4, (secret) => utf8(`{\n  "secret": "${secret}"\n}`)],
      [4, (secret) => utf8(`["${secret}"]`)],
      [4, (secret) => utf8(`{"method":"hmac","secret":"${secret}"}`)],
      [4, (secret, around) => utf8(`{"id":"${listenerOf(around?.url ?? "")}","secret":"${secret}"}`)],
      [4, (secret, around) => utf8(`{"secret":"${secret}","id":"${listenerOf(around?.url ?? "")}"}`)],
      // Given here with the JSON around it.
      [3, (secret) => insideOfJson(secret)],
    ],
  },
  {
    id: "secret-assignment",
    title: "The variable's name before the secret",
    message:
      "It matches if the key is a whole line of an .env file, with the name and = in front of the secret.",
    fix: "Take what follows the =: the value alone.",
    ways: [
      ...VARIABLES.map(
        (name) => [weightOf(VARIABLES, name), (secret: string) => utf8(`${name}=${secret}`)] as const,
      ),
      ...VARIABLES.flatMap((name) =>
        [`${name}=`, `${name}="`, `export ${name}=`, `${name}: `].flatMap((before) => {
          const end = before.endsWith('"') ? '"' : "";
          return ["", "\n"].map(
            (after) => [4, (secret: string) => utf8(`${before}${secret}${end}${after}`)] as const,
          );
        }),
      ),
      // Given here with the name in front.
      [3, (secret) => afterAssignment(secret)],
    ],
  },
  {
    id: "secret-not-expanded",
    title: "A variable that was not expanded",
    message:
      "It matches if the key is the text of a variable that nothing has replaced, such as $WEBHOOK_SECRET, or of an expression that stood in quotes.",
    fix: "Set the value where it is read: single quotes in a shell, and most configuration files, expand nothing.",
    ways: VARIABLES.flatMap((name) => [
      [weightOf(VARIABLES, name), () => utf8(`\${${name}}`)] as const,
      [weightOf(VARIABLES, name), () => utf8(`$${name}`)] as const,
      [4, () => utf8(name)] as const,
      [4, () => utf8(`%${name}%`)] as const,
      [4, () => utf8(`{{${name}}}`)] as const,
      [4, () => utf8(`\${{ secrets.${name} }}`)] as const,
      // An expression that stood in quotes.
      [4, () => utf8(`${NODE_VARIABLES}.${name}`)] as const,
      [4, () => utf8(`os.environ['${name}']`)] as const,
      [4, () => utf8(`ENV['${name}']`)] as const,
    ]),
  },
  {
    id: "secret-fingerprint",
    title: "The fingerprint in place of the secret",
    message:
      "It matches if the key is the secret's fingerprint, or its SHA-256 in hex, which only names the secret.",
    fix: "Use the secret itself, which secretFingerprint(secret) names.",
    listener: {
      family: "key",
      accepts: "signatures made with the secret's SHA-256 in hex",
      bug: "it hashes the secret, or keeps only its hash",
    },
    ways: [
      [3, (secret) => utf8(hashInHex(secret))],
      [3, (secret) => utf8(`sha256:${hashInHex(secret).slice(0, 8)}`)],
      [3, (secret) => utf8(hashInHex(secret).slice(0, 8))],
      [3, (secret) => utf8(hashInHex(secret).slice(0, 16))],
    ],
  },
];
