// The parsers of keys, key sets, secrets and the files that hold them.

import { generateKeyPairSync } from "node:crypto";
import { hmacSigner, secretWarnings } from "hookproof";
import { compare } from "hookproof/diagnose";
import { checkKeySet, type Jwks, localKeys } from "hookproof/jwks";
import { readSigningKey } from "hookproof/node";
import { readBehaviour } from "hookproof/probes";
import { standardWebhooksSigner } from "hookproof/standard-webhooks";
import { CliError } from "../../../cli/src/failure.js";
import { checkedPair } from "../../../cli/src/serve/certificate-pair.js";
import { CODES, HookproofError } from "../../../src/core/errors.js";
import { whyNoJson } from "../../../src/jwks/key-set-shape.js";
import { parseStoredKeys } from "../../../src/key-store/stored-key.js";
import { never, type Parser } from "../parser.js";

const isOurs = (error: unknown) => error instanceof HookproofError && Object.hasOwn(CODES, error.code);
const text = (input: Buffer) => input.toString("utf8");

// Keys that open nothing: they were made for these tests.
const D = "nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A";
const PUBLIC = { kty: "OKP", crv: "Ed25519", x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo" };
const JWK = JSON.stringify({ ...PUBLIC, d: D, kid: "k1", alg: "EdDSA", use: "sig" });
const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
const PEM = privateKey.export({ type: "pkcs8", format: "pem" }) as string;
const SEC1 = privateKey.export({ type: "sec1", format: "pem" }) as string;
const ENCRYPTED = privateKey.export({
  type: "pkcs8",
  format: "pem",
  cipher: "aes-256-cbc",
  passphrase: "x",
}) as string;
const EC = privateKey.export({ format: "jwk" });

const KEY_SET = JSON.stringify({
  keys: [
    { ...PUBLIC, kid: "k1", alg: "EdDSA", use: "sig" },
    { kty: "EC", crv: "P-256", kid: "k2", x: EC.x, y: EC.y, x5c: ["AA=="], key_ops: ["verify"] },
    { kty: "RSA", kid: "k3", n: "s".repeat(342), e: "AQAB" },
  ],
});

const SECRET = "GhwS7pYvQ2dJk0nXzL5mB9cR3fT8aE1uKoWiV4xPqHs";

export const KEY_PARSERS: readonly Parser[] = [
  ...[
    ["keys", JWK, D],
    ["pem", PEM, PEM.split("\n")[1] ?? ""],
  ].map(
    ([name = "", example = "", hidden = ""]): Parser => ({
      name,
      examples: [
        ...[
          example,
          `KEY="${example.replaceAll("\n", "\\n")}"`,
          `key: |\n  ${example.replaceAll("\n", "\n  ")}`,
        ],
        ...[JSON.stringify({ private_key: example }), Buffer.from(example).toString("base64")],
        ...(name === "pem" ? [SEC1, ENCRYPTED] : []),
      ],
      words: [
        "-----BEGIN ",
        "PRIVATE KEY-----",
        "-----END ",
        "\\n",
        '"d":',
        '"kty":"RSA"',
        "export KEY=",
        "Proc-Type: 4",
      ],
      hidden,
      most: 16_384,
      quick: 150,
      refuses: isOurs,
      read(input) {
        readSigningKey(text(input), { kid: "k1" });
        readSigningKey(text(input), { kid: "k1", passphrase: "x" });
        return undefined;
      },
    }),
  ),
  {
    name: "key-store-file",
    examples: [
      JSON.stringify({
        version: 1,
        maxAgeSeconds: 300,
        publishedTo: "https://keys.example.com/jwks.json",
        keys: [
          {
            ...{ kid: "k1", alg: "EdDSA", createdAt: 1, signsAt: 2, retiresAt: 3 },
            ...{ publicJwk: PUBLIC, privateJwk: { ...PUBLIC, d: D } },
          },
          { kid: "k2", alg: "ES256", createdAt: 1, removesAt: 9 },
        ],
      }),
    ],
    hidden: D,
    refuses: isOurs,
    read(input) {
      parseStoredKeys(text(input), "keys.json");
      return undefined;
    },
  },
  {
    name: "key-sets",
    examples: [KEY_SET, KEY_SET.slice(8, -1), '{"issuer":"x","jwks_uri":"https://a/"}', PEM],
    words: ['"kid":"k1"', '"alg":"none"', '"d":"AA"', '"use":"enc"', '"crv":"P-521"'],
    quick: 150,
    refuses: isOurs,
    async read(input) {
      const transport = async () => ({ status: 200, headers: [], body: input, truncated: false });
      const { checks } = await checkKeySet("https://keys.example.com/jwks.json", { transport });
      whyNoJson({ body: input, headers: [] });
      const seen = checks.map(({ detail }) => detail);
      let value: unknown;
      try {
        value = JSON.parse(text(input));
      } catch {
        return seen;
      }
      const keys = localKeys(value as Jwks);
      for (const kid of ["k1", "k2", "k3"])
        for (const alg of ["EdDSA", "ES256", "RS256"] as const) {
          const found = await keys.resolve(kid, alg);
          if ("detail" in found) seen.push(String(found.detail));
        }
      return seen;
    },
  },
  {
    name: "secrets",
    examples: [
      SECRET,
      `whsec_${Buffer.from(SECRET).toString("base64")}`,
      `whsk_${SECRET}`,
      `whpk_${SECRET}=`,
    ],
    words: ["whsec_", "whsk_", "whpk_", "=", " ", "\n"],
    hidden: SECRET,
    refuses: (error) => isOurs(error),
    read(input) {
      const secret = text(input);
      const shown = secretWarnings(secret);
      hmacSigner({ secret });
      standardWebhooksSigner({ secrets: secret });
      return shown;
    },
  },
  {
    name: "certificates",
    examples: [`-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n\0${PEM}`],
    words: ["-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----", "\0"],
    most: 16_384,
    hidden: PEM.split("\n")[1] ?? "",
    refuses: (error) =>
      error instanceof CliError || isOurs(error) || (error instanceof Error && "code" in error),
    read(input) {
      const [cert = "", key = ""] = text(input).split("\0");
      checkedPair({ cert, key }, { cert: "--cert", key: "--key" });
      return undefined;
    },
  },
  {
    name: "behaviour",
    examples: [
      '{"version":1,"method":"hmac","answers":{"timestamp-missing":401,"body-empty":"ECONNRESET"}}',
      '{"version":2,"method":"jwt","answers":{"a-b":{"status":400,"headers":{"content-type":"text/plain"},"body":"x"}}}',
    ],
    refuses: isOurs,
    read(input) {
      readBehaviour(text(input));
      return undefined;
    },
  },
  {
    name: "comparison",
    examples: ['{"b":1,"a":2}\0{"a":2,"b":1.0}', "a=1&b=2\0{}", '{"é":"\\u00e9"}\0{"é":"é"}'],
    most: 8_192,
    quick: 80,
    refuses: never,
    async read(input) {
      const [first = "", second = ""] = input.toString("latin1").split("\0");
      const request = (body: string) => ({
        ...{ method: "POST", url: `/a?${body.slice(0, 40)}` },
        ...{
          headers: [
            ["Content-Type", body.slice(0, 60)],
            [body.slice(0, 20), "x"],
          ] as const,
          body: Buffer.from(body, "latin1"),
        },
      });
      const { changes } = await compare({ sent: request(first), received: request(second) });
      return changes.map(({ message }) => message);
    },
  },
];
