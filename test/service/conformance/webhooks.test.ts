import { createHash, createHmac, randomUUID } from "node:crypto";
import { fixedClock } from "hookproof/testing";
import { createService, type Service } from "hookproof-service";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { serve } from "../../kit/loopback.js";
import { endedRuns, ownAutomation } from "../own-automation.js";
import { ask } from "../running-service.js";

/** What the document says of webhooks (4.10, 5.2, 6 and 7), signed by hand and sent to the service. */

const NOW = 1_767_225_600;
const BODY = '{ "email":"ada@example.com" }';
const HASH = createHash("sha256").update(BODY).digest("base64url");
const keys = {
  RS256: await generateKeyPair("RS256"),
  ES256: await generateKeyPair("ES256"),
  EdDSA: await generateKeyPair("EdDSA"),
};
const otherKey = await generateKeyPair("EdDSA");

const clock = fixedClock(NOW * 1000);
let service: Service;
let host: Awaited<ReturnType<typeof serve>>;
let hmac: Awaited<ReturnType<typeof ownAutomation>>;
let jwt: Awaited<ReturnType<typeof ownAutomation>>;
beforeAll(async () => {
  const jwks = await Promise.all(
    Object.entries(keys).map(async ([alg, { publicKey }]) => ({
      ...(await exportJWK(publicKey)),
      kid: alg,
      alg,
      use: "sig",
    })),
  );
  host = await serve((_request, response) => void response.end(JSON.stringify({ keys: jwks })));
  service = await createService({ clock, allowInsecure: true, validateAnswers: true });
  hmac = await ownAutomation(service);
  jwt = await ownAutomation(service, { trigger: { jwt: { jwksUrl: `${host.url}/jwks.json` } } });
});
afterAll(async () => {
  await service?.stop();
  await host?.stop();
});

type Headers = Record<string, string | undefined>;

/** Sends what the headers and the body are; a header that is undefined is left out. */
async function send(url: string, headers: Headers, body = BODY): Promise<number> {
  const given = Object.entries(headers).filter(([, value]) => value !== undefined);
  const answer = await fetch(url, { method: "POST", headers: given as [string, string][], body });
  await answer.text();
  return answer.status;
}

/** The headers of an event for the HMAC listener, signed as 5.2 says. */
function signed({
  timestamp = String(NOW),
  id = randomUUID() as string,
  body = BODY,
  key = hmac.signingSecret as string | Buffer,
} = {}) {
  return {
    "Content-Type": "application/json",
    "Webhook-Timestamp": timestamp,
    "Webhook-Event-Id": id,
    "Webhook-Signature": createHmac("sha256", key).update(`${timestamp}.${id}.${body}`).digest("base64url"),
  };
}

/** The headers of an event for the JWT listener, with claims and a header to change. */
async function withToken(
  claims: Record<string, unknown> = {},
  { alg = "EdDSA", kid = alg, key }: { alg?: keyof typeof keys; kid?: string; key?: CryptoKey } = {},
) {
  const id = randomUUID();
  const all = {
    sub: service.url,
    aud: jwt.listenerUrl,
    exp: NOW + 300,
    jti: id,
    htm: "POST",
    htb_s256: HASH,
    ...claims,
  };
  const token = await new SignJWT(all as never)
    .setProtectedHeader({ alg, kid })
    .sign(key ?? keys[alg].privateKey);
  return {
    "Content-Type": "application/json",
    "Webhook-Timestamp": String(NOW),
    "Webhook-Event-Id": id,
    Authorization: `Bearer ${token}`,
  };
}

describe("the headers of an event", () => {
  it.each(["Webhook-Timestamp", "Webhook-Event-Id"])("without %s it is 400", async (name) => {
    expect(await send(hmac.listenerUrl, { ...signed(), [name]: undefined })).toBe(400);
  });

  it("without a proof it is 401, by either method", async () => {
    expect(await send(hmac.listenerUrl, { ...signed(), "Webhook-Signature": undefined })).toBe(401);
    expect(await send(jwt.listenerUrl, { ...(await withToken()), Authorization: undefined })).toBe(401);
  });

  it.each([
    [-301, 400],
    [-300, 200],
    [300, 200],
    [301, 400],
  ])("a timestamp %i s away is %i", async (away, status) => {
    expect(await send(hmac.listenerUrl, signed({ timestamp: String(NOW + away) }))).toBe(status);
  });

  it.each(["1", "6f1d2c3b-4a59-1e68-8f70-112233445566", "6f1d2c3b4a594e688f70112233445566"])(
    "an event id of %s, which is no UUID v4, is 400",
    async (id) => {
      expect(await send(hmac.listenerUrl, signed({ id }))).toBe(400);
    },
  );

  it("another content type is refused", async () => {
    expect(await send(hmac.listenerUrl, { ...signed(), "Content-Type": "text/plain" })).toBe(415);
  });
});

describe("the body of an event", () => {
  it("that is no JSON is 400", async () => {
    for (const body of ["", "{", "'a'"])
      expect(await send(hmac.listenerUrl, signed({ body }), body)).toBe(400);
  });

  it("may be any JSON", async () => {
    for (const body of ["null", "1", '"a"', "[]", "{}", " {} "])
      expect(await send(hmac.listenerUrl, signed({ body }), body)).toBe(200);
  });

  it("has at most 64 KB", async () => {
    const of = (length: number) => JSON.stringify("x".repeat(length - 2));
    const [most, more] = [of(65_536), of(65_537)];
    expect(await send(hmac.listenerUrl, signed({ body: most }), most)).toBe(200);
    expect(await send(hmac.listenerUrl, signed({ body: more }), more)).toBe(413);
  });
});

describe("the HMAC method", () => {
  it("gives a secret of 256 bit in base64url, whose text is the key", async () => {
    expect(hmac.signingSecret).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(Buffer.from(hmac.signingSecret, "base64url")).toHaveLength(32);
    expect(await send(hmac.listenerUrl, signed())).toBe(200);
    expect(await send(hmac.listenerUrl, signed({ key: Buffer.from(hmac.signingSecret, "base64url") }))).toBe(
      401,
    );
  });

  it("signs timestamp, event id and body, joined by periods", async () => {
    const { "Webhook-Signature": signature, ...headers } = signed();
    const other = signed();
    for (const changed of [
      { ...headers, "Webhook-Timestamp": String(NOW + 1), "Webhook-Signature": signature },
      { ...headers, "Webhook-Event-Id": other["Webhook-Event-Id"], "Webhook-Signature": signature },
      { ...headers, "Webhook-Signature": other["Webhook-Signature"] },
    ])
      expect(await send(hmac.listenerUrl, changed)).toBe(401);
  });

  it("takes the signature without padding only", async () => {
    const headers = signed();
    const padded = `${headers["Webhook-Signature"]}=`;
    expect(await send(hmac.listenerUrl, { ...headers, "Webhook-Signature": padded })).toBe(401);
    expect(await send(hmac.listenerUrl, headers)).toBe(200);
  });

  it("refuses a body that was changed, be it by a blank", async () => {
    expect(await send(hmac.listenerUrl, signed(), BODY.replace(" ", ""))).toBe(401);
    expect(await send(hmac.listenerUrl, signed(), `${BODY} `)).toBe(401);
  });
});

describe("the JWT method", () => {
  it.each(["RS256", "ES256", "EdDSA"] as const)("takes a token signed by %s", async (alg) => {
    expect(await send(jwt.listenerUrl, await withToken({}, { alg }))).toBe(200);
  });

  it.each<[what: string, claims: () => Record<string, unknown>]>([
    ["sub is another address", () => ({ sub: "https://other.example.com" })],
    ["sub is missing", () => ({ sub: undefined })],
    ["aud is another listener's URL", () => ({ aud: hmac.listenerUrl })],
    ["aud is missing", () => ({ aud: undefined })],
    ["exp has passed", () => ({ exp: NOW - 1 })],
    ["exp is more than 10 minutes ahead", () => ({ exp: NOW + 601 })],
    ["exp is missing", () => ({ exp: undefined })],
    ["jti is another event's id", () => ({ jti: randomUUID() })],
    ["jti is missing", () => ({ jti: undefined })],
    ["htm is another method", () => ({ htm: "PUT" })],
    ["htm is missing", () => ({ htm: undefined })],
    ["htb_s256 is of another body", () => ({ htb_s256: createHash("sha256").digest("base64url") })],
    ["htb_s256 has padding", () => ({ htb_s256: `${HASH}=` })],
    ["htb_s256 is missing", () => ({ htb_s256: undefined })],
  ])("is 401 where %s", async (_what, claims) => {
    expect(await send(jwt.listenerUrl, await withToken(claims()))).toBe(401);
  });

  it("takes an exp of 10 minutes ahead", async () => {
    expect(await send(jwt.listenerUrl, await withToken({ exp: NOW + 600 }))).toBe(200);
  });

  it("is 401 where the kid is not in the key set, and where the signature is by another key", async () => {
    expect(await send(jwt.listenerUrl, await withToken({}, { kid: "none" }))).toBe(401);
    expect(await send(jwt.listenerUrl, await withToken({}, { key: otherKey.privateKey }))).toBe(401);
  });

  it("is 401 where the key set cannot be fetched", async () => {
    const gone = await serve(() => {});
    await gone.stop();
    const own = await ownAutomation(service, { trigger: { jwt: { jwksUrl: `${gone.url}/jwks.json` } } });
    expect(await send(own.listenerUrl, await withToken({ aud: own.listenerUrl }))).toBe(401);
  });

  it("has its key set behind HTTPS, unless the service is told otherwise", async () => {
    await using strict = await createService();
    const automation = (jwksUrl: string) =>
      ask(strict, "POST", "/local/v1/automations", { body: { trigger: { jwt: { jwksUrl } } } });
    expect((await automation("http://keys.example.com/jwks.json")).status).toBe(400);
    expect((await automation("https://keys.example.com/jwks.json")).status).toBe(200);
  });
});

describe("an event id", () => {
  it("is looked at after the proof: what is refused does not use it up", async () => {
    const headers = signed();
    expect(
      await send(hmac.listenerUrl, { ...headers, "Webhook-Signature": signed()["Webhook-Signature"] }),
    ).toBe(401);
    expect(await send(hmac.listenerUrl, headers)).toBe(200);
    expect(
      await send(hmac.listenerUrl, { ...headers, "Webhook-Signature": signed()["Webhook-Signature"] }),
    ).toBe(401);
    expect(await send(hmac.listenerUrl, headers)).toBe(409);
  });

  it("runs the automation once at each listener that gets it", async () => {
    const [first, second] = [await ownAutomation(service), await ownAutomation(service)];
    const id = randomUUID();
    for (const own of [first, second]) {
      const headers = signed({ id, key: own.signingSecret });
      expect([await send(own.listenerUrl, headers), await send(own.listenerUrl, headers)]).toEqual([
        200, 409,
      ]);
      expect(await endedRuns(service, own.id)).toHaveLength(1);
    }
  });

  it("is remembered for 7 days", async () => {
    const clock = fixedClock(NOW * 1000);
    await using own = await createService({ clock });
    const { listenerUrl, signingSecret } = await ownAutomation(own);
    const id = randomUUID();
    const again = () => {
      const timestamp = String(Math.floor(clock.now() / 1000));
      return send(listenerUrl, signed({ id, timestamp, key: signingSecret }));
    };
    expect(await again()).toBe(200);
    clock.advance(7 * 86_400_000 - 1000);
    expect(await again()).toBe(409);
    clock.advance(2000);
    expect(await again()).toBe(200);
  });
});

describe("the body in the automation", () => {
  it("is ctx.trigger, by a dot and by brackets", async () => {
    const own = await ownAutomation(service, {
      steps: [
        { name: "a", templates: { dot: "{{ ctx.trigger.email }}", brackets: "{{ ctx.trigger['email'] }}" } },
      ],
    });
    expect(await send(own.listenerUrl, signed({ key: own.signingSecret }))).toBe(200);
    const [run] = await endedRuns(service, own.id);
    expect(run?.steps[0]?.result).toEqual({ dot: "ada@example.com", brackets: "ada@example.com" });
  });
});
