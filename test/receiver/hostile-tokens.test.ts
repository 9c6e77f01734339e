import { createHash, randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, it } from "vitest";
import {
  BASE_URL,
  expectAccepted,
  expectRefusal,
  NOW,
  pathOf,
  startTarget,
  type Target,
} from "../kit/hostile-target.js";
import {
  authorized,
  base64url,
  claimsFor,
  compactToken,
  jwtListener,
  jwtParts,
  testKey,
} from "../kit/hostile-tokens.js";

const rs256 = testKey("RS256");
const es256 = testKey("ES256");
const eddsa = testKey("EdDSA");
const es384 = testKey("ES384");
const attacker = testKey("RS256", "attacker");
let target: Target;

beforeAll(async () => {
  target = await startTarget([
    jwtListener("lst_jwt", [rs256, es256, eddsa, es384]),
    jwtListener("lst_other", [rs256, es256, eddsa]),
    jwtListener("lst_ed25519", [eddsa], { allowEd25519: true }),
  ]);
});
afterAll(() => target.stop());

/** The token of a good request, and the request to put another into. */
function goodToken(): { parts: ReturnType<typeof jwtParts>; token: string } {
  const parts = jwtParts("lst_jwt", eddsa);
  return { parts, token: compactToken(eddsa, claimsFor("lst_jwt", parts)) };
}

describe("a good token", () => {
  it.each([rs256, es256, eddsa])("of $alg is 200", async (key) => {
    await expectAccepted(target, jwtParts("lst_jwt", key));
  });

  it.each(["bearer", "BEARER", "bEaReR"])("under the scheme %s is 200", async (scheme) => {
    const { parts, token } = goodToken();
    await expectAccepted(target, authorized(parts, `${scheme} ${token}`));
  });
});

describe("the form of Authorization", () => {
  it.each<[string, (token: string) => string]>([
    ["Basic", (token) => `Basic ${token}`],
    ["DPoP", (token) => `DPoP ${token}`],
    ["no scheme", (token) => token],
    ["the scheme alone", () => "Bearer"],
    ["two tokens", (token) => `Bearer ${token} ${token}`],
    ["two tokens with a comma", (token) => `Bearer ${token},${token}`],
    ["two schemes", (token) => `Bearer Bearer ${token}`],
    ["a space and a tab", (token) => `Bearer \t${token}`],
    ["a tab", (token) => `Bearer\t${token}`],
    ["a no-break space", (token) => `Bearer\u00a0${token}`],
    ["four segments", (token) => `Bearer ${token}.`],
    ["five segments", (token) => `Bearer ${token}.a.b`],
    ["two segments", (token) => `Bearer ${token.split(".").slice(0, 2).join(".")}`],
    ["no segments", () => "Bearer ..."],
    ["nothing but dots", () => "Bearer .."],
    ["JSON serialisation", () => 'Bearer {"payload":"","signatures":[]}'],
    ["8,193 characters", (token) => `Bearer ${token}${"A".repeat(8_193 - token.length)}`],
    ["Latin-1 letters", (token) => `Bearer ${token}\u00e9`],
  ])("%s is 401", async (_name, authorization) => {
    const { parts, token } = goodToken();
    await expectRefusal(target, authorized(parts, authorization(token)), 401, "TOKEN_MALFORMED");
  });
});

describe("algorithms", () => {
  const publicPem = rs256.publicKey.export({ type: "spki", format: "pem" }) as string;

  it.each([
    "none",
    "None",
    "NONE",
    "es256",
    "PS256",
    "HS256",
    "ES384",
    "RS512",
    "Ed448",
    "",
    null,
    256,
    ["RS256"],
  ])("the header alg %j is 401", async (alg) => {
    await expectRefusal(
      target,
      jwtParts("lst_jwt", rs256, { header: { alg } }),
      401,
      "TOKEN_ALGORITHM_REFUSED",
    );
  });

  it("no alg is 401", async () => {
    const parts = jwtParts("lst_jwt", rs256, { header: { alg: undefined } });
    await expectRefusal(target, parts, 401, "TOKEN_ALGORITHM_REFUSED");
  });

  it("none with an empty signature is 401", async () => {
    const parts = jwtParts("lst_jwt", rs256);
    const header = base64url('{"alg":"none","kid":"rs256"}');
    const claims = base64url(JSON.stringify(claimsFor("lst_jwt", parts)));
    await expectRefusal(
      target,
      authorized(parts, `Bearer ${header}.${claims}.`),
      401,
      "TOKEN_ALGORITHM_REFUSED",
    );
  });

  it("HS256 with the public key as its secret is 401, also where the header says RS256", async () => {
    const forged = { signWith: publicPem, signAs: "HS256" };
    await expectRefusal(
      target,
      jwtParts("lst_jwt", rs256, { ...forged, header: { alg: "HS256" } }),
      401,
      "TOKEN_ALGORITHM_REFUSED",
    );
    await expectRefusal(target, jwtParts("lst_jwt", rs256, forged), 401, "TOKEN_SIGNATURE_MISMATCH");
  });

  it("PSS under the name RS256 is 401", async () => {
    await expectRefusal(
      target,
      jwtParts("lst_jwt", rs256, { signAs: "PS256" }),
      401,
      "TOKEN_SIGNATURE_MISMATCH",
    );
  });

  it("a key of another algorithm than the header's is 401", async () => {
    for (const [key, alg] of [
      [rs256, "ES256"],
      [es256, "EdDSA"],
      [eddsa, "RS256"],
      [es384, "ES256"],
    ] as const)
      await expectRefusal(
        target,
        jwtParts("lst_jwt", key, { header: { alg }, signAs: key.alg }),
        401,
        "KEY_NOT_FOUND",
      );
  });

  it("a signature by another key, empty, or all zeros is 401", async () => {
    const byAttacker = jwtParts("lst_jwt", rs256, { signWith: attacker.privateKey });
    await expectRefusal(target, byAttacker, 401, "TOKEN_SIGNATURE_MISMATCH");
    const { parts } = goodToken();
    for (const key of [rs256, es256, eddsa]) {
      const [header, claims] = compactToken(key, claimsFor("lst_jwt", parts)).split(".");
      for (const signature of ["", base64url(new Uint8Array(64)), base64url(new Uint8Array(256))])
        await expectRefusal(
          target,
          authorized(parts, `Bearer ${header}.${claims}.${signature}`),
          401,
          "TOKEN_SIGNATURE_MISMATCH",
        );
    }
  });
});

describe("key ids", () => {
  it.each([
    ["missing", undefined, "TOKEN_KEY_ID_INVALID"],
    ["empty", "", "TOKEN_KEY_ID_INVALID"],
    ["a number", 1, "TOKEN_KEY_ID_INVALID"],
    ["a list", ["rs256"], "TOKEN_KEY_ID_INVALID"],
    ["null", null, "TOKEN_KEY_ID_INVALID"],
    ["257 characters", "k".repeat(257), "TOKEN_KEY_ID_INVALID"],
    ["unknown", "unknown", "KEY_NOT_FOUND"],
    ["256 characters", "k".repeat(256), "KEY_NOT_FOUND"],
    ["in another letter case", "RS256", "KEY_NOT_FOUND"],
    ["a path", "../../../../dev/null", "KEY_NOT_FOUND"],
    ["__proto__", "__proto__", "KEY_NOT_FOUND"],
    ["SQL", "' OR 1=1 --", "KEY_NOT_FOUND"],
  ])("%s is 401", async (_name, kid, code) => {
    await expectRefusal(target, jwtParts("lst_jwt", rs256, { header: { kid } }), 401, code);
  });

  it("10 kB is 401, by the length of the token", async () => {
    const parts = jwtParts("lst_jwt", rs256, { header: { kid: "k".repeat(10_240) } });
    await expectRefusal(target, parts, 401, "TOKEN_MALFORMED");
  });
});

describe("header members that are refused", () => {
  it.each<[string, unknown]>([
    ["jwk", attacker.jwk],
    ["jku", "https://attacker.example/jwks.json"],
    ["x5u", "https://attacker.example/cert.pem"],
    ["x5c", ["MIIB"]],
    ["crit", ["exp"]],
    ["crit", ["unknown"]],
    ["crit", []],
    ["crit", null],
    ["b64", false],
    ["b64", true],
  ])("%s: %j is 401", async (name, value) => {
    const signed = { signWith: attacker.privateKey, header: { [name]: value } };
    await expectRefusal(target, jwtParts("lst_jwt", rs256, signed), 401, "TOKEN_HEADER_REFUSED");
    await expectRefusal(
      target,
      jwtParts("lst_jwt", rs256, { header: { [name]: value } }),
      401,
      "TOKEN_HEADER_REFUSED",
    );
  });
});

describe("members that stand twice", () => {
  it.each([
    ["alg", '{"alg":"none","alg":"EdDSA","kid":"eddsa"}'],
    ["kid", '{"alg":"EdDSA","kid":"other","kid":"eddsa"}'],
    ["an escaped kid", '{"alg":"EdDSA","kid":"eddsa","\\u006bid":"eddsa"}'],
    ["__proto__", '{"alg":"EdDSA","kid":"eddsa","__proto__":{},"__proto__":{}}'],
  ])("in the header: %s is 401", async (_name, header) => {
    await expectRefusal(target, jwtParts("lst_jwt", eddsa, { header }), 401, "TOKEN_MALFORMED");
  });

  it("in the claims, also deep inside, is 401", async () => {
    const eventId = randomUUID();
    const parts = jwtParts("lst_jwt", eddsa, { eventId });
    const good = JSON.stringify(claimsFor("lst_jwt", parts)).slice(0, -1);
    for (const more of [`,"exp":${NOW + 300}}`, ',"\\u0065xp":1}', ',"x":[{"a":1,"a":2}]}']) {
      const token = compactToken(eddsa, {}, { claims: `${good}${more}` });
      await expectRefusal(target, authorized(parts, `Bearer ${token}`), 401, "TOKEN_MALFORMED");
    }
    await expectAccepted(target, parts);
  });

  it.each(["[]", "null", '"x"', "1", "", "{", "{}{}", '\ufeff{"alg":"EdDSA","kid":"eddsa"}'])(
    "a header or claims of %j is 401",
    async (text) => {
      await expectRefusal(target, jwtParts("lst_jwt", eddsa, { header: text }), 401, "TOKEN_MALFORMED");
      if (text.startsWith("\ufeff")) return;
      await expectRefusal(target, jwtParts("lst_jwt", eddsa, { claims: text }), 401, "TOKEN_MALFORMED");
    },
  );

  it("a header nested 2,000 levels deep is 401", async () => {
    const header = `{"alg":"EdDSA","kid":${"[".repeat(2_000)}${"]".repeat(2_000)}}`;
    await expectRefusal(target, jwtParts("lst_jwt", eddsa, { header }), 401, "TOKEN_KEY_ID_INVALID");
  });
});

describe("segments that are not canonical base64url", () => {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

  it.each([
    ["padding", (segment: string) => `${segment}=`],
    ["a space", (segment: string) => `${segment.slice(0, 4)}%20${segment.slice(4)}`],
    ["the standard alphabet", (segment: string) => `+${segment.slice(1)}`],
    ["an impossible length", (segment: string) => segment + "A".repeat((5 - (segment.length % 4)) % 4 || 4)],
  ])("%s in any segment is 401", async (_name, bend) => {
    const { parts, token } = goodToken();
    for (const index of [0, 1, 2]) {
      const segments = token.split(".");
      segments[index] = bend(segments[index] ?? "");
      await expectRefusal(target, authorized(parts, `Bearer ${segments.join(".")}`), 401, "TOKEN_MALFORMED");
    }
  });

  it("a set bit after the last byte of the signature is 401", async () => {
    const { parts, token } = goodToken();
    // An Ed25519 signature has 64 bytes: its 86th character carries 4 unused bits.
    const last = alphabet.charAt(alphabet.indexOf(token.slice(-1)) | 1);
    await expectRefusal(
      target,
      authorized(parts, `Bearer ${token.slice(0, -1)}${last}`),
      401,
      "TOKEN_MALFORMED",
    );
  });
});

describe("exp and nbf", () => {
  const claims = (value: unknown) => jwtParts("lst_jwt", eddsa, { claims: { exp: value } });

  it.each([
    undefined,
    null,
    String(NOW + 300),
    [NOW + 300],
    NOW,
    NOW - 1,
    0,
    -1,
    NOW + 601,
    NOW + 300.5,
    true,
  ])("exp %j is 401", async (exp) => expectRefusal(target, claims(exp), 401, "CLAIM_EXP_INVALID"));

  it.each([1, 600])("exp now + %i is 200", async (ahead) => expectAccepted(target, claims(NOW + ahead)));

  it.each(["1e999", "9007199254740993", String((NOW + 300) * 1000)])("exp %s is 401", async (exp) => {
    const parts = jwtParts("lst_jwt", eddsa);
    const text = JSON.stringify({ ...claimsFor("lst_jwt", parts), exp: 0 }).replace(
      '"exp":0',
      `"exp":${exp}`,
    );
    const token = compactToken(eddsa, {}, { claims: text });
    await expectRefusal(target, authorized(parts, `Bearer ${token}`), 401, "CLAIM_EXP_INVALID");
  });

  it.each([NOW + 1, NOW + 0.5, String(NOW), null, [NOW], {}])("nbf %j is 401", async (nbf) =>
    expectRefusal(target, jwtParts("lst_jwt", eddsa, { claims: { nbf } }), 401, "CLAIM_NBF_INVALID"),
  );

  it.each([NOW, 0])("nbf %j is 200", async (nbf) =>
    expectAccepted(target, jwtParts("lst_jwt", eddsa, { claims: { nbf } })),
  );
});

describe("claims that bind the token to the request", () => {
  const bodyHash = createHash("sha256").update('{"type":"user.offboarded"}').digest();

  it.each<[string, unknown, string]>([
    ["sub", `${BASE_URL}/`, "CLAIM_SUB_INVALID"],
    ["sub", "https://other.example.com", "CLAIM_SUB_INVALID"],
    ["sub", BASE_URL.toUpperCase(), "CLAIM_SUB_INVALID"],
    ["sub", undefined, "CLAIM_SUB_INVALID"],
    ["sub", [BASE_URL], "CLAIM_SUB_INVALID"],
    ["sub", "http://127.0.0.1", "CLAIM_SUB_INVALID"],
    ["aud", `${BASE_URL}${pathOf("lst_other")}`, "CLAIM_AUD_INVALID"],
    ["aud", [`${BASE_URL}${pathOf("lst_jwt")}`], "CLAIM_AUD_INVALID"],
    ["aud", `${BASE_URL}${pathOf("lst_jwt")}/`, "CLAIM_AUD_INVALID"],
    ["aud", `${BASE_URL}${pathOf("lst_jwt")}?`, "CLAIM_AUD_INVALID"],
    ["aud", BASE_URL, "CLAIM_AUD_INVALID"],
    ["aud", undefined, "CLAIM_AUD_INVALID"],
    ["htm", "post", "CLAIM_HTM_INVALID"],
    ["htm", "GET", "CLAIM_HTM_INVALID"],
    ["htm", undefined, "CLAIM_HTM_INVALID"],
    ["htb_s256", createHash("sha256").update("{}").digest("base64url"), "CLAIM_HTB_S256_INVALID"],
    ["htb_s256", bodyHash.toString("base64"), "CLAIM_HTB_S256_INVALID"],
    ["htb_s256", `${bodyHash.toString("base64url")}=`, "CLAIM_HTB_S256_INVALID"],
    ["htb_s256", bodyHash.toString("hex"), "CLAIM_HTB_S256_INVALID"],
    ["htb_s256", undefined, "CLAIM_HTB_S256_INVALID"],
    ["jti", randomUUID(), "CLAIM_JTI_INVALID"],
    ["jti", undefined, "CLAIM_JTI_INVALID"],
    ["jti", 5, "CLAIM_JTI_INVALID"],
  ])("%s %j is 401", async (name, value, code) => {
    await expectRefusal(target, jwtParts("lst_jwt", eddsa, { claims: { [name]: value } }), 401, code);
  });

  it("a token for one body does not carry another", async () => {
    const parts = jwtParts("lst_jwt", eddsa, { body: '{"amount":100}' });
    await expectRefusal(
      target,
      { ...parts, body: Buffer.from('{"amount":900}') },
      401,
      "CLAIM_HTB_S256_INVALID",
    );
  });

  it("Host does not stand in for the configured base URL", async () => {
    const sub = "https://attacker.example";
    const parts = jwtParts("lst_jwt", eddsa, { claims: { sub, aud: `${sub}${pathOf("lst_jwt")}` } });
    const headers = parts.headers.map((line) =>
      line[0] === "Host" ? (["Host", "attacker.example"] as const) : line,
    );
    await expectRefusal(target, { ...parts, headers }, 401, "CLAIM_SUB_INVALID");
  });
});

describe("the algorithm name Ed25519", () => {
  const header = { alg: "Ed25519" };

  it("is 401 unless the operator allows it", async () => {
    await expectRefusal(target, jwtParts("lst_jwt", eddsa, { header }), 401, "TOKEN_ALGORITHM_REFUSED");
    await expectAccepted(target, jwtParts("lst_ed25519", eddsa, { header }));
    await expectAccepted(target, jwtParts("lst_ed25519", eddsa));
  });
});
