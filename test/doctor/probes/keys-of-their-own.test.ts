// A listener that takes the key from the token is found, whatever algorithm it asks for first.
import { createPublicKey, type JsonWebKey, type KeyObject, verify } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { generateKey } from "hookproof/jwks";
import { runProbes } from "hookproof/probes";
import { expect, it } from "vitest";
import { httpServer, started } from "../../kit/local-server.js";

const HASHES = { ES256: "sha256", RS256: "sha256", EdDSA: null };

const partOf = (text = "") =>
  JSON.parse(Buffer.from(text, "base64url").toString()) as Record<string, unknown>;

/** The key that a token brings along, or leads to. */
function broughtKey({ jwk, jku }: Record<string, unknown>): KeyObject | undefined {
  const found =
    jku === undefined
      ? jwk
      : (JSON.parse(decodeURIComponent(String(jku).replace(/^.*?,/, ""))) as { keys: unknown[] }).keys[0];
  return found === undefined ? undefined : createPublicKey({ key: found as JsonWebKey, format: "jwk" });
}

it.each(["ES256", "RS256", "EdDSA"] as const)("a listener for %s", async (alg) => {
  const own = await generateKey({ alg });
  const ownKey = createPublicKey({ key: own.privateJwk as JsonWebKey, format: "jwk" });
  const takes = ({ headers }: IncomingMessage): boolean => {
    const [header, claims, signature = ""] = (headers.authorization ?? "").replace("Bearer ", "").split(".");
    const members = partOf(header);
    if (members.alg !== alg) return false;
    const key = broughtKey(members) ?? ownKey;
    return verify(
      HASHES[alg],
      Buffer.from(`${header}.${claims}`),
      { key, dsaEncoding: "ieee-p1363" },
      Buffer.from(signature, "base64url"),
    );
  };
  const { port } = await started(
    httpServer((request, response) => {
      request.resume().on("end", () => response.writeHead(takes(request) ? 200 : 401).end());
    }),
  );
  const url = `http://127.0.0.1:${port}/api/v1/webhooks/incoming/lst_1`;
  const auth = { method: "jwt", key: own.privateJwk, kid: own.kid, alg } as const;
  const outcomes: Record<string, string> = {};
  const only = ["header-jwk", "header-jku", "token-of-other-key"];
  for await (const { id, outcome } of runProbes({ url, auth }, { only, allowTrigger: true }))
    outcomes[id] = outcome;
  expect(outcomes).toEqual({ "header-jwk": "fail", "header-jku": "fail", "token-of-other-key": "pass" });
});
