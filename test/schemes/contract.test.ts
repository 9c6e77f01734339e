import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { generateSecret, hmacSigner, jwtSigner, type Signer } from "hookproof";
import { httpSignatureSigner, httpSignatureVerifier } from "hookproof/http-signature";
import { generateKey, localKeys } from "hookproof/jwks";
import type { Verifier } from "hookproof/schemes";
import { securityEvent, securityEventSigner, securityEventVerifier } from "hookproof/set";
import {
  generateStandardKeys,
  generateStandardSecret,
  standardWebhooksSigner,
  standardWebhooksVerifier,
} from "hookproof/standard-webhooks";
import { type SchemeSubject, schemeContract } from "hookproof/testing";
import { describe, expect, it } from "vitest";
import { listenerVerifier } from "../../src/schemes/default-verifier.js";
import { EXAMPLES } from "../kit/example-process.js";

const keys = await generateStandardKeys();
const others = await generateStandardKeys();
const secret = generateStandardSecret();

const subjects: Record<string, SchemeSubject> = {
  "Standard Webhooks v1": {
    signer: standardWebhooksSigner({ secrets: secret }),
    verifier: standardWebhooksVerifier({ secrets: secret }),
    otherSigner: standardWebhooksSigner({ secrets: generateStandardSecret() }),
  },
  "Standard Webhooks v1a": {
    signer: standardWebhooksSigner({ secrets: keys.privateKey }),
    verifier: standardWebhooksVerifier({ secrets: keys.publicKey }),
    otherSigner: standardWebhooksSigner({ secrets: others.privateKey }),
  },
};

const KEYS = [
  await generateKey({ alg: "EdDSA", kid: "k1" }),
  await generateKey({ alg: "ES256", kid: "k2" }),
  await generateKey({ alg: "ES256", kid: "k1" }),
] as const;
const known = localKeys({ keys: [KEYS[0].publicJwk, KEYS[1].publicJwk] });
const signingBy = ({ privateJwk: key, kid, alg }: (typeof KEYS)[number]) => ({ key: { key, kid, alg } });
const url = "https://hooks.example.com/in";
const shared = "a secret that both sides know: 32 bytes or more";

Object.assign(subjects, {
  "HTTP message signatures, Ed25519": {
    signer: httpSignatureSigner(signingBy(KEYS[0])),
    verifier: httpSignatureVerifier({ url, keys: known }),
    otherSigner: httpSignatureSigner(signingBy(KEYS[2])),
  },
  "HTTP message signatures, ECDSA P-256": {
    signer: httpSignatureSigner(signingBy(KEYS[1])),
    verifier: httpSignatureVerifier({ url, keys: known }),
    otherSigner: httpSignatureSigner(signingBy(KEYS[2])),
  },
  "HTTP message signatures, HMAC": {
    signer: httpSignatureSigner({ secret: shared, keyId: "s1" }),
    verifier: httpSignatureVerifier({ url, secrets: { s1: shared } }),
    otherSigner: httpSignatureSigner({ secret: `${shared}.`, keyId: "s1" }),
  },
  ...Object.fromEntries(
    [KEYS[0], KEYS[1]].map((key) => {
      const names = { issuer: "https://idp.example.com/", audience: "https://receiver.example.com/" };
      const subject: SchemeSubject = {
        signer: securityEventSigner({ ...names, ...signingBy(key) }),
        verifier: securityEventVerifier({ ...names, keys: known }),
        otherSigner: securityEventSigner({ ...names, ...signingBy(KEYS[2]) }),
        payload: (n) => securityEvent("https://events.example.com/happened", { n }),
        unproved: ["accept"],
      };
      return [`Security event tokens, ${key.alg}`, subject];
    }),
  ),
} satisfies Record<string, SchemeSubject>);

/** The default scheme. */
const own = "https://hooks.example.com/api/v1/webhooks/incoming/lst_1";
const listenerOf = (auth: Parameters<typeof listenerVerifier>[0]["auth"]) =>
  listenerVerifier({ id: "lst_1", baseUrl: "https://hooks.example.com", auth });
const [hmacSecret, otherSecret] = [generateSecret(), generateSecret()];

Object.assign(subjects, {
  "The default scheme, by a signature": {
    signer: hmacSigner({ secret: hmacSecret }),
    verifier: listenerOf({ method: "hmac", secret: hmacSecret }),
    otherSigner: hmacSigner({ secret: otherSecret }),
    url: own,
  },
  "The default scheme, by a token": {
    signer: jwtSigner(signingBy(KEYS[1]).key),
    verifier: listenerOf({ method: "jwt", keys: known }),
    otherSigner: jwtSigner(signingBy(KEYS[2]).key),
    url: own,
  },
} satisfies Record<string, SchemeSubject>);

describe.each(Object.entries(subjects))("%s keeps the contract", (_, subject) => {
  for (const { name, run } of schemeContract) it(name, () => run(subject));
});

describe("the contract finds", () => {
  const { signer, verifier, otherSigner } = subjects["Standard Webhooks v1"] as SchemeSubject;
  const brokenBy = async (over: Partial<SchemeSubject>) => {
    const broken: string[] = [];
    for (const { name, run } of schemeContract)
      await run({ signer, verifier, otherSigner, ...over }).catch(() => broken.push(name));
    return broken;
  };
  const lenient = (
    change: (all: (name: string) => readonly string[]) => (name: string) => readonly string[],
  ): Verifier => ({
    ...verifier,
    verify: (request) =>
      verifier.verify({ ...request, headers: { all: change((name) => request.headers.all(name)) } }),
  });

  it.each<[string, Partial<SchemeSubject>, string]>([
    ["a verifier that takes anybody's signature", { otherSigner: signer }, "another secret"],
    [
      "a verifier that reads the first of two lines",
      { verifier: lenient((all) => (name) => all(name).slice(0, 1)) },
      "stands twice",
    ],
    [
      "a verifier that looks at no clock",
      {
        verifier: {
          ...verifier,
          verify: (request) =>
            verifier.verify({
              ...request,
              nowSeconds: () => Number(request.headers.all("webhook-timestamp")[0]) || 0,
            }),
        },
      },
      "an hour later",
    ],
    [
      "a verifier that throws",
      {
        verifier: {
          ...verifier,
          verify: (request) => {
            if (request.headers.all("webhook-id").length === 0) throw new Error("no id");
            return verifier.verify(request);
          },
        },
      },
      "is needed",
    ],
    ["a copy that gets 409", { verifier: { ...verifier, answers: {} } }, "not run again"],
    [
      "another scheme's signer",
      { signer: { ...signer, scheme: { ...signer.scheme, name: "Other Scheme" } } satisfies Signer },
      "plain name",
    ],
    ...Object.entries<(url: string) => string>({
      "a URL of nothing": () => "",
      "a URL as it is given": (given) => given,
      "a URL without a path": (given) => new URL(given).origin,
      "a URL that becomes longer": (given) => `${new URL(given).href}/`,
      "any text for a URL": (given) => (URL.canParse(given) ? new URL(given).href : "https://example.com/"),
    }).map(([what, targetUrl]): [string, Partial<SchemeSubject>, string] => [
      `a scheme that signs ${what}`,
      { signer: { ...signer, scheme: { ...signer.scheme, targetUrl } } },
      "signed in one form",
    ]),
    [
      "a verifier of events that looks at no clock",
      (() => {
        const subject = subjects["Security event tokens, ES256"] as SchemeSubject;
        const verify: Verifier["verify"] = (request) =>
          subject.verifier.verify({ ...request, nowSeconds: () => 1_767_225_600 });
        return { ...subject, verifier: { ...subject.verifier, verify } };
      })(),
      "its id is remembered",
    ],
  ])("%s", async (_, over, rule) => {
    expect((await brokenBy(over)).some((name) => name.includes(rule))).toBe(true);
  });
});

it("examples/own-scheme.mjs keeps it too, and delivers", async () => {
  const file = join(EXAMPLES, "own-scheme.test.mjs");
  const { stdout } = await promisify(execFile)(process.execPath, ["--test", "--test-reporter=tap", file], {
    env: { ...process.env, NODE_OPTIONS: "" },
  });
  expect(stdout).toContain(`# pass ${schemeContract.length + 1}`);
  expect(stdout).toContain("# fail 0");
});
