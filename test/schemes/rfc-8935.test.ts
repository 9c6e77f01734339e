// The examples of RFC 8417 (security event tokens) and RFC 8935 (their push), as tests of receiver and transmitter.
import { createEvent, createSender } from "hookproof";
import { generateKey, type KeyRecord, localKeys } from "hookproof/jwks";
import { createReceiver } from "hookproof/receiver";
import { securityEventSigner, securityEventVerifier } from "hookproof/set";
import { createFakeReceiver, fixedClock } from "hookproof/testing";
import { compactVerify, importJWK, SignJWT } from "jose";
import { beforeAll, describe, expect, it } from "vitest";
import { mistakesOf } from "../kit/mistakes-of.js";
import { readVectors } from "../vectors/vector-file.js";

interface Claims {
  readonly iss: string;
  readonly iat: number;
  readonly jti: string;
  readonly aud: string | readonly string[];
}

interface Exchange {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const rfc = readVectors<{
  claims: { section: string; title: string; claims: Claims }[];
  unsecured: { token: string };
  push: {
    request: { method: string; path: string; headers: Record<string, string>; body: string };
    accepted: Exchange;
    refused: Exchange;
  };
  errors: { codes: string[] };
}>("rfc_security_event_tokens.json");

const { request } = rfc.push;
/** The claims of the token in the request of RFC 8935, which are those of RFC 8417 section 2.1.4. */
const pushed = rfc.claims.find(({ section }) => section === "RFC 8417, 2.1.4")?.claims as Claims;

let key: KeyRecord;
beforeAll(async () => {
  key = await generateKey({ alg: "ES256", kid: "k1" });
});

function recipientOf({ iss, iat }: Claims, audience: string) {
  const verifier = securityEventVerifier({
    issuer: iss,
    audience,
    keys: localKeys({ keys: [key.publicJwk] }),
  });
  return createReceiver({ verifier, clock: fixedClock(iat * 1000) });
}

/** Claims as another library signs them. */
async function signedByJose(claims: object): Promise<string> {
  return new SignJWT({ ...claims })
    .setProtectedHeader({ alg: "ES256", kid: "k1", typ: "secevent+jwt" })
    .sign(await importJWK(key.privateJwk, "ES256"));
}

describe.each(rfc.claims)("$section: $title", ({ claims }) => {
  const audiences = [claims.aud].flat();

  it("the receiver accepts it for each of its recipients, and for nobody else", async () => {
    const body = await signedByJose(claims);
    const push = async (audience: string) =>
      recipientOf(claims, audience).receive(
        { method: request.method, url: request.path, headers: request.headers, body },
        async () => {},
      );
    for (const audience of audiences)
      expect(await push(audience)).toMatchObject({
        ...{ status: rfc.push.accepted.status, body: rfc.push.accepted.body },
        verdict: { ok: true, event: { id: claims.jti, payload: claims } },
      });
    const { status, body: text } = await push("https://other.example.com");
    expect([status, JSON.parse(text).err]).toEqual([400, "invalid_audience"]);
  });

  it("the transmitter makes the same claims", async () => {
    const { iss, iat, jti, aud, ...payload } = claims;
    const { privateJwk, kid } = key;
    const signer = securityEventSigner({
      ...{ issuer: iss, audience: aud },
      key: { key: privateJwk, kid, alg: "ES256" },
    });
    const bytes = Buffer.from(JSON.stringify(payload));
    const parts = { url: "https://rp.example.com/", timestamp: String(iat), eventId: jti, body: bytes };
    const { body } = await signer.sign(parts);
    const read = await compactVerify(body as Uint8Array, await importJWK(key.publicJwk, "ES256"));
    expect(read.protectedHeader).toEqual({ alg: "ES256", kid, typ: "secevent+jwt" });
    expect(JSON.parse(Buffer.from(read.payload).toString())).toEqual(claims);
  });
});

it("RFC 8417, 2.4: the token without a signature is refused, and named", async () => {
  const { claims } = rfc.claims.at(-1) as { claims: Claims };
  const body = rfc.unsecured.token;
  const receiver = recipientOf(claims, String([claims.aud].flat()[0]));
  const verdict = await receiver.verify({ method: "POST", url: "/Events", headers: request.headers, body });
  expect(verdict).toMatchObject({ ok: false, code: "TOKEN_ALGORITHM_REFUSED" });
  const found = await mistakesOf("security-event-token", { body, nowSeconds: claims.iat });
  expect(found.map(({ id }) => id)).toEqual(["alg-none", "kid-missing"]);
});

describe("RFC 8935", () => {
  it("2.1: the request of its example is read, and refused for its shared secret alone", async () => {
    const receiver = recipientOf(pushed, String(pushed.aud));
    const { path: url, ...parts } = request;
    const { status, headers, body } = await receiver.receive({ url, ...parts }, async () => {});
    expect([status, JSON.parse(body).err]).toEqual([400, "invalid_request"]);
    const lines = Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), value]));
    expect(lines["content-type"]).toMatch(/^application\/json\b/);
    expect(lines["content-language"]).toBe("en");
    const found = await mistakesOf("security-event-token", {
      ...{ headers: request.headers, body: request.body, nowSeconds: pushed.iat },
      ...{ issuer: pushed.iss, audience: String(pushed.aud) },
    });
    // The profile takes public keys only; the example names no key either.
    expect(found.map(({ id }) => id)).toEqual(["alg-symmetric", "kid-missing"]);
  });

  it("2.1: the transmitter sends the header lines of its example", async () => {
    const { requests } = await transmitTo(rfc.push.accepted);
    const lines = new Map(
      [...(requests[0]?.headers ?? [])].map(([name, value]) => [name.toLowerCase(), value]),
    );
    for (const name of ["Content-Type", "Accept"])
      expect(lines.get(name.toLowerCase())).toBe(request.headers[name]);
  });

  it("2.2: the answer 202 without a body is an accepted event", async () => {
    expect(await (await transmitTo(rfc.push.accepted)).result).toMatchObject({ status: 202 });
  });

  it("2.3: the refusal of its example is a setting to correct, and names the key", async () => {
    const { result, requests } = await transmitTo(rfc.push.refused);
    const error = await result.catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      code: "AUTHENTICATION_REFUSED",
      hint: expect.stringContaining("invalid_key"),
    });
    expect(requests.length).toBe(1); // a revoked key is no reason to try again
  });

  it("2.4: every code of its table is known, and none of a registry of others", () => {
    const { scheme } = securityEventVerifier({
      ...{ issuer: "https://a.example", audience: "b" },
      keys: localKeys({ keys: [] }),
    });
    const hintsOf = (err: string) => {
      const body = new TextEncoder().encode(JSON.stringify({ err, description: "…" }));
      return JSON.stringify(scheme.classify({ status: 400, headers: [], body }, 1, 0));
    };
    for (const code of rfc.errors.codes) expect(hintsOf(code)).toContain(`${code}: `);
    expect(hintsOf("invalid_client")).not.toContain("invalid_client");
  });
});

/** One event sent to a recipient that answers so. */
async function transmitTo({ status, headers, body }: Exchange) {
  const { privateJwk, kid } = key;
  const signer = securityEventSigner({
    ...{ issuer: pushed.iss, audience: pushed.aud },
    key: { key: privateJwk, kid, alg: "ES256" },
  });
  const { transport, requests } = createFakeReceiver([{ status, headers, body }]);
  const sender = createSender({ url: "https://notify.rp.example.com/Events", signer, transport });
  const result = sender.send(createEvent({ events: (pushed as unknown as { events: object }).events }));
  await result.catch(() => {});
  return { result, requests };
}
