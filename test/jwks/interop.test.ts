import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createEvent, jwtSigner, signRequest } from "hookproof";
import { createKeySet } from "hookproof/jwks";
import { openKeyStore } from "hookproof/node";
import { startKeySetHost } from "hookproof-service";
import { afterAll, beforeAll, expect } from "vitest";
import { itWith } from "../kit/needs.js";
import { hasTool } from "../kit/outside-tool.js";

/** PyJWT with nothing but the served key set: prints the claims of a token it accepts. */
const VERIFY = `
import json, sys, urllib.request, jwt
url, audience = sys.argv[1], sys.argv[2]
keys = {key["kid"]: key for key in json.load(urllib.request.urlopen(url))["keys"]}
for line in sys.stdin:
    token = line.strip()
    key = keys[jwt.get_unverified_header(token)["kid"]]
    assert key["use"] == "sig" and "d" not in key
    claims = jwt.decode(token, jwt.PyJWK.from_dict(key).key, algorithms=[key["alg"]], audience=audience)
    print(json.dumps({"alg": key["alg"], "claims": claims}))
`;

const url = "https://tenant.example.com/api/v1/webhooks/incoming/lst_1";
const algorithms = ["RS256", "ES256", "EdDSA"] as const;
let dir: string;
let host: Awaited<ReturnType<typeof startKeySetHost>>;
let keySet: ReturnType<typeof createKeySet>;

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "hookproof-interop-"));
  const store = openKeyStore(dir);
  for (const alg of algorithms) {
    await store.generate({ alg });
    await store.generate({ alg });
  }
  keySet = createKeySet(store);
  host = await startKeySetHost({ keySet });
});
afterAll(async () => {
  await host.stop();
  rmSync(dir, { recursive: true, force: true });
});

/** PyJWT runs while this process serves the key set, so it must not be waited for synchronously. */
async function acceptedByPython(
  tokens: readonly string[],
): Promise<{ alg: string; claims: Record<string, unknown> }[]> {
  const { spawn } = await import("node:child_process");
  const python = spawn("/usr/bin/python3", ["-c", VERIFY, host.keySetUrl, url], {
    stdio: ["pipe", "pipe", "ignore"],
  });
  python.stdin.end(tokens.join("\n"));
  let text = "";
  for await (const chunk of python.stdout) text += chunk;
  return text
    .trim()
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

itWith("python3-jwt", hasTool("/usr/bin/python3", "-c", "import jwt, cryptography"))(
  "PyJWT accepts a token of each algorithm with the served key set alone",
  async () => {
    const event = createEvent({ type: "user.offboarded" });
    const tokens: string[] = [];
    for (const alg of algorithms) {
      const request = await signRequest({ url, signer: jwtSigner(() => keySet.signingKey(alg)), event });
      const authorization = request.headers.Authorization ?? "";
      tokens.push(authorization.replace("Bearer ", ""));
    }
    const accepted = await acceptedByPython(tokens);
    expect(accepted.map(({ alg }) => alg)).toEqual(algorithms);
    for (const { claims } of accepted)
      expect(claims).toMatchObject({ aud: url, sub: "https://tenant.example.com", jti: event.id });

    const [, signature] = /^.*\.(.*)$/.exec(tokens[0] ?? "") ?? [];
    const forged = (tokens[0] ?? "").replace(
      signature as string,
      (signature as string).replace(/^./, (c) => (c === "A" ? "B" : "A")),
    );
    await expect(acceptedByPython([forged])).resolves.toEqual([]);
  },
);

itWith("openssl", hasTool("openssl", "version"))("openssl reads every exported public key", async () => {
  const store = openKeyStore(dir);
  const records = await store.list();
  expect(new Set(records.map(({ alg }) => alg)).size).toBe(3);
  for (const { kid, alg } of records) {
    const pem = await store.exportKey(kid, { half: "public", format: "pem" });
    const text = execFileSync("openssl", ["pkey", "-pubin", "-noout", "-text"], {
      input: pem,
      encoding: "utf8",
    });
    expect(text).toMatch({ RS256: /2048 bit/, ES256: /P-256/, EdDSA: /ED25519/ }[alg]);
  }
});
