import { createKeySet, generateKey, jwksHandler, type KeyRecord, type KeyState } from "hookproof/jwks";
import { describe, expect, it } from "vitest";

const url = "https://keys.example.com/.well-known/jwks.json";

async function inState(state: KeyState): Promise<KeyRecord> {
  return generateKey({ alg: "ES256", kid: state, state });
}

describe("createKeySet", () => {
  it("publishes next, active and retired keys, and signs with the active one only", async () => {
    const states: KeyState[] = ["removed", "retired", "next", "active"];
    const keySet = createKeySet(await Promise.all(states.map(inState)));
    const { keys } = await keySet.publicJwks();
    expect(keys.map(({ kid }) => kid)).toEqual(["retired", "next", "active"]);
    expect(await keySet.signingKey("ES256")).toMatchObject({ kid: "active", alg: "ES256" });
    await expect(keySet.signingKey("EdDSA")).rejects.toThrow(
      expect.objectContaining({ code: "KEY_NOT_FOUND" }),
    );
  });

  it("reads its source again for every answer", async () => {
    let records = [await inState("active")];
    const keySet = createKeySet({ load: async () => records });
    expect((await keySet.publicJwks()).keys).toHaveLength(1);
    records = [];
    expect((await keySet.publicJwks()).keys).toHaveLength(0);
    await expect(keySet.signingKey("ES256")).rejects.toThrow();
  });

  it("makes the document once for a frozen list, and again for one that may change", async () => {
    const records = [await inState("active")];
    const changing = createKeySet(records);
    const first = await changing.publicJwks();
    records.push(await inState("next"));
    expect((await changing.publicJwks()).keys).toHaveLength(2);
    expect(first.keys).toHaveLength(1);
    const frozen = createKeySet(Object.freeze(records));
    expect(await frozen.publicJwks()).toBe(await frozen.publicJwks());
  });

  it("never publishes a private member, whatever a record calls public", async () => {
    const record = await inState("active");
    const careless = { ...record, publicJwk: { ...record.privateJwk, use: "sig", k: "c2VjcmV0" } };
    const text = JSON.stringify(await createKeySet([careless]).publicJwks());
    expect(text).not.toContain(record.privateJwk.d);
    expect(JSON.parse(text)).toEqual({ keys: [record.publicJwk] });
  });

  it("never publishes two keys under one kid", async () => {
    const twins = [await inState("active"), { ...(await inState("next")), kid: "active" }];
    const keySet = createKeySet(twins);
    await expect(keySet.publicJwks()).rejects.toThrow(expect.objectContaining({ code: "KEY_SET_INVALID" }));
  });
});

describe("jwksHandler", () => {
  it("serves the set with a strong ETag, cache rules and CORS", async () => {
    const record = await inState("active");
    const response = await jwksHandler(createKeySet([record]), { maxAgeSeconds: 60 })(new Request(url));
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ keys: [record.publicJwk] });
    const headers = Object.fromEntries(response.headers);
    expect(headers).toMatchObject({
      "content-type": "application/jwk-set+json",
      "cache-control": "public, max-age=60",
      "access-control-allow-origin": "*",
      "x-content-type-options": "nosniff",
      etag: expect.stringMatching(/^"[A-Za-z0-9_-]{22}"$/),
    });
  });

  it("answers HEAD like GET without a body, and other methods with 405", async () => {
    const handler = jwksHandler(createKeySet([await inState("active")]));
    const head = await handler(new Request(url, { method: "HEAD" }));
    const get = await handler(new Request(url));
    expect([head.status, await head.text()]).toEqual([200, ""]);
    expect(Object.fromEntries(head.headers)).toEqual(Object.fromEntries(get.headers));
    for (const method of ["POST", "PUT", "DELETE", "OPTIONS"]) {
      const response = await handler(new Request(url, { method }));
      expect([response.status, response.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
    }
  });

  it("answers 304 to the ETag it gave, until the set changes", async () => {
    const records = [await inState("active")];
    const handler = jwksHandler(createKeySet({ load: async () => records }));
    const etag = (await handler(new Request(url))).headers.get("etag") ?? "";
    const statusFor = async (tag: string) => {
      const response = await handler(new Request(url, { headers: { "If-None-Match": tag } }));
      if (response.status === 304)
        expect([await response.text(), response.headers.get("etag")]).toEqual(["", etag]);
      return response.status;
    };
    for (const tag of [etag, `W/${etag}`, `"other", ${etag}`, "*"])
      expect(await statusFor(tag), tag).toBe(304);
    for (const tag of ['"other"', etag.replaceAll('"', "")]) expect(await statusFor(tag), tag).toBe(200);
    records.push(await inState("next"));
    expect(await statusFor(etag)).toBe(200);
  });

  it.each([-1, 1.5, Number.NaN])("refuses a maxAgeSeconds of %s", (maxAgeSeconds) => {
    expect(() => jwksHandler(createKeySet([]), { maxAgeSeconds })).toThrow(RangeError);
  });
});
