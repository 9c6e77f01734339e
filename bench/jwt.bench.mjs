// What do tokens cost beside bare jose with the same claims, and beside the signature alone?
import { createHash, createPrivateKey, createPublicKey, sign, verify } from "node:crypto";
import { createServer } from "node:http";
import { jwtSigner } from "hookproof";
import { createKeySet, generateKey, remoteKeys } from "hookproof/jwks";
import { toJwksListener } from "hookproof/node";
import { createReceiver } from "hookproof/receiver";
import { importJWK, jwtVerify, SignJWT } from "jose";
import { interleaved, quick, report, reportFigures, summary } from "./support.mjs";

const baseUrl = "https://tenant.example.com";
const url = `${baseUrl}/api/v1/webhooks/incoming/lst_bench`;
const eventId = "0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10";
const timestamp = String(Math.floor(Date.now() / 1000));
const body = Buffer.from(JSON.stringify({ text: "x".repeat(1013) }));
const often = { rounds: 15, roundMs: 100 };

for (const alg of quick ? ["ES256"] : ["RS256", "ES256", "EdDSA"]) await measure(alg);
if (!quick) await eventLoop();
process.exit();

async function keysFor(alg) {
  const record = await generateKey({ alg });
  const privateKey = createPrivateKey({ key: record.privateJwk, format: "jwk" });
  const as = (key) => (alg === "ES256" ? { key, dsaEncoding: "ieee-p1363" } : key);
  return {
    record,
    digest: alg === "EdDSA" ? null : "sha256",
    private: as(privateKey),
    public: as(createPublicKey(privateKey)),
  };
}

function claimsNow() {
  return {
    sub: baseUrl,
    aud: url,
    exp: Number(timestamp) + 300,
    jti: eventId,
    htm: "POST",
    htb_s256: createHash("sha256").update(body).digest("base64url"),
  };
}

async function measure(alg) {
  const keys = await keysFor(alg);
  const { kid, privateJwk } = keys.record;
  const joseKey = await importJWK(privateJwk, alg);
  const signer = jwtSigner({ key: privateJwk, kid, alg });
  const request = { url, timestamp, eventId, body };
  const { headers } = await signer.sign(request);
  const token = headers[0][1].replace("Bearer ", "");
  const input = Buffer.from(token.slice(0, token.lastIndexOf(".")));
  report({
    question: `JWT sign, ${alg}, for a body of 1 KB`,
    results: await interleaved(
      {
        "raw node:crypto": () => sign(keys.digest, input, keys.private),
        "bare jose, same claims": () =>
          new SignJWT(claimsNow()).setProtectedHeader({ alg, kid, typ: "JWT" }).sign(joseKey),
        jwtSigner: () => signer.sign(request),
      },
      often,
    ),
    ratios: [
      { of: "jwtSigner", to: "bare jose, same claims", goal: 0.95 },
      { of: "jwtSigner", to: "raw node:crypto" },
    ],
  });
  await measureVerify(alg, { keys, token, input });
}

async function measureVerify(alg, { keys, token, input }) {
  const signature = Buffer.from(token.slice(token.lastIndexOf(".") + 1), "base64url");
  const { warm, server } = await warmKeys(keys.record);
  const { kid } = keys.record;
  const { key } = await warm.resolve(kid, alg);
  const receiver = createReceiver({
    listener: { id: "lst_bench", baseUrl, auth: { method: "jwt", keys: warm } },
  });
  const headers = {
    "Content-Type": "application/json",
    "Webhook-Timestamp": timestamp,
    "Webhook-Event-Id": eventId,
    Authorization: `Bearer ${token}`,
  };
  const request = { method: "POST", url, headers, body };
  const verdict = await receiver.verify(request);
  if (!verdict.ok) throw new Error(`the bench's own request is refused: ${verdict.code}`);
  const bare = async (publicKey) => {
    const { payload } = await jwtVerify(token, publicKey, {
      algorithms: [alg],
      audience: url,
      subject: baseUrl,
    });
    const hash = createHash("sha256").update(body).digest("base64url");
    return payload.htm === "POST" && payload.jti === eventId && payload.htb_s256 === hash;
  };
  report({
    question: `JWT verify, ${alg}, for a body of 1 KB`,
    results: await interleaved(
      {
        "raw node:crypto": () => verify(keys.digest, input, keys.public, signature),
        "bare jose, same claims": () => bare(key),
        "the same, key from remoteKeys": async () => bare((await warm.resolve(kid, alg)).key),
        "receiver.verify, whole request": () => receiver.verify(request),
      },
      often,
    ),
    ratios: [
      { of: "the same, key from remoteKeys", to: "bare jose, same claims", goal: 0.9 },
      { of: "receiver.verify, whole request", to: "bare jose, same claims", goal: 0.9 },
      { of: "receiver.verify, whole request", to: "raw node:crypto" },
    ],
  });
  server.close();
}

/** A key set that was fetched over HTTP and is fresh from now on. */
async function warmKeys(record) {
  const keySet = createKeySet([record]);
  const server = createServer(toJwksListener(keySet)).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const warm = remoteKeys(`http://127.0.0.1:${server.address().port}/jwks.json`, {
    allowInsecureLoopback: true,
  });
  return { warm, server };
}

/** How long a signature keeps everything else in the process waiting, 16 at once. */
async function eventLoop() {
  const keys = await keysFor("RS256");
  const signer = jwtSigner({ key: keys.record.privateJwk, kid: keys.record.kid, alg: "RS256" });
  const request = { url, timestamp, eventId, body };
  const cases = {
    "node:crypto, synchronous": async () => sign("sha256", body, keys.private),
    jwtSigner: () => signer.sign(request),
  };
  const busy = Object.fromEntries(Object.keys(cases).map((name) => [name, []]));
  for (let round = -1; round < 9; round++) {
    for (const [name, work] of Object.entries(cases)) {
      const before = performance.eventLoopUtilization();
      for (let batch = 0; batch < 10; batch++) {
        await Promise.all(Array.from({ length: 16 }, work));
        await new Promise((resolve) => setImmediate(resolve));
      }
      const { active } = performance.eventLoopUtilization(before);
      if (round >= 0) busy[name].push((active * 1000) / 160);
    }
  }
  reportFigures({
    question: "The event loop's time for one RS256 token, 16 at once",
    unit: "µs",
    figures: Object.fromEntries(
      Object.entries(busy).map(([name, all]) => {
        const { perSecond: value, low, high } = summary(all);
        return [name, { value, low, high }];
      }),
    ),
  });
}
