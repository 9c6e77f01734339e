import { createPublicKey } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { SigningKey } from "hookproof";
import { generateKey } from "hookproof/jwks";
import { type ProbeResult, runSchemeProbes, schemeProbeTarget, schemeVerdict } from "hookproof/probes";
import { generateStandardSecret } from "hookproof/standard-webhooks";
import { createVerifier, httpbis } from "http-message-signatures";
import { createLocalJWKSet, jwtVerify } from "jose";
import { expect, it } from "vitest";
import { schemeOf } from "../../cli/src/schemes/chosen-scheme.js";
import { httpServer, started } from "../kit/local-server.js";
import { describeWith } from "../kit/needs.js";
import { otherPeoples } from "../kit/other-people.js";

const ISSUER = "https://idp.example.com/";
const AUDIENCE = "https://rp.example.com/";

interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly url: string;
}

/** A listener that has somebody else's package and nothing of its own: it accepts what the package accepts. */
async function listener(verify: (request: Received) => unknown, accepted: number): Promise<string> {
  const { port } = await started(
    httpServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const url = `http://127.0.0.1:${port}/hooks`;
      try {
        const isRight = await verify({
          headers: request.headers,
          body: Buffer.concat(chunks).toString("utf8"),
          url,
        });
        response.statusCode = isRight ? accepted : 400;
      } catch {
        response.statusCode = 400;
      }
      response.end();
    }),
  );
  return `http://127.0.0.1:${port}/hooks`;
}

/** The results of the test suite of a scheme, as the command line sends it. */
async function probed(
  settings: Record<string, string>,
  proof: { secrets: string[] } | { key: SigningKey },
  url: string,
): Promise<{ passed: number; failed: string[]; unclear: string[]; sentence: string | undefined }> {
  const scheme = schemeOf({ text: (name: string) => settings[name], isGiven: () => false } as never);
  if (!scheme) throw new Error("no such scheme");
  const target = await schemeProbeTarget(scheme.probed(url, { ...scheme.settings, ...proof }));
  const results: ProbeResult[] = [];
  for await (const result of runSchemeProbes(target, { allowTrigger: true })) results.push(result);
  const ids = (outcome: string) => results.filter((one) => one.outcome === outcome).map(({ id }) => id);
  return {
    passed: ids("pass").length,
    failed: ids("fail"),
    unclear: ids("unclear"),
    sentence: schemeVerdict(results)?.sentence,
  };
}

interface Library {
  Webhook: new (secret: string) => { verify(payload: string, headers: Record<string, string>): unknown };
}

for (const name of ["standardwebhooks", "svix"]) {
  const library = otherPeoples<Library>(name);
  describeWith("npm ci --prefix test/interop", library)(`a listener with ${name} alone`, () => {
    it("refuses what Standard Webhooks refuses, but for two lines of one header", async () => {
      const secret = generateStandardSecret();
      const { Webhook } = library as Library;
      const url = await listener(({ headers, body }) => {
        new Webhook(secret).verify(body, headers as Record<string, string>);
        return true;
      }, 204);
      expect(await probed({ scheme: "standard-webhooks" }, { secrets: [secret] }, url)).toEqual({
        passed: 13,
        failed: [],
        // Node joins the two lines, and the package reads the first part of each.
        unclear: ["webhook-timestamp-twice", "webhook-signature-twice"],
        sentence: undefined,
      });
    });
  });
}

it("a listener with jose alone takes a security event token of any age and content type", async () => {
  const { privateJwk, publicJwk, kid, alg } = await generateKey({ alg: "ES256" });
  const keys = createLocalJWKSet({ keys: [publicJwk] } as never);
  const options = {
    typ: "secevent+jwt",
    issuer: ISSUER,
    audience: AUDIENCE,
    requiredClaims: ["jti", "iat", "events"],
  };
  const url = await listener(({ body }) => jwtVerify(body, keys, options), 202);
  const settings = { scheme: "set", issuer: ISSUER, audience: AUDIENCE };
  expect(await probed(settings, { key: { key: privateJwk, kid, alg } }, url)).toEqual({
    passed: 7,
    failed: ["time-long-ago", "time-to-come", "content-type-of-json"],
    unclear: [],
    sentence:
      "It accepts a request that was signed too long ago, and a request of an hour ahead, and a token as application/json.",
  });
});

it.each([
  ["compares with true", (result: unknown) => result === true, []],
  ["compares with false", (result: unknown) => result !== false, ["keyid-unknown"]],
])("a listener with http-message-signatures alone that %s takes any body", async (_, isRight, more) => {
  const { privateJwk, publicJwk, kid } = await generateKey({ alg: "EdDSA" });
  const key = createPublicKey({ key: publicJwk as never, format: "jwk" });
  const url = await listener(async ({ headers, url }) => {
    const result = await httpbis.verifyMessage(
      {
        keyLookup: async ({ keyid }) =>
          keyid === kid ? { id: kid, algs: ["ed25519"], verify: createVerifier(key, "ed25519") } : null,
        requiredFields: ["@method", "@target-uri", "content-digest", "webhook-event-id"],
        requiredParams: ["created", "keyid", "alg"],
        maxAge: 300,
      },
      { method: "POST", url, headers: headers as Record<string, string> },
    );
    return isRight(result);
  }, 200);
  const proof = { key: { key: privateJwk, kid, alg: "EdDSA" } } as const;
  expect(await probed({ scheme: "http-signature" }, proof, url)).toMatchObject({
    passed: 15 - more.length,
    failed: ["body-changed", ...more],
    unclear: ["signature-input-twice", "signature-twice"],
  });
});
