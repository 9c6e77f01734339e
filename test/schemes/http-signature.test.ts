import { createHash, createHmac, generateKeyPairSync, sign } from "node:crypto";
import { createEvent, createSender, hmacSigner, signRequest } from "hookproof";
import {
  type HttpSignatureVerifierOptions,
  httpSignatureSigner,
  httpSignatureVerifier,
} from "hookproof/http-signature";
import { generateKey, localKeys } from "hookproof/jwks";
import { createOutbox, memoryStore } from "hookproof/outbox";
import { createReceiver } from "hookproof/receiver";
import { fixedClock } from "hookproof/testing";
import type { JWK } from "jose";
import { describe, expect, it } from "vitest";

const url = "https://hooks.example.com/events?tenant=7";
const secret = "a secret that both sides know: 32 bytes or more";
const NOW = 1_767_225_600;
const clock = fixedClock(NOW * 1_000);
const hmac = httpSignatureSigner({ secret, keyId: "shared-1" });

async function signed(signer = hmac, body = '{"n":1}', timestamp = NOW) {
  const event = createEvent(body);
  const request = await signRequest({ url, signer, event, timestamp });
  return { ...request, headers: Object.entries(request.headers) as [string, string][] };
}

/** A body that no event can have. */
async function signedText(text: string): Promise<Request> {
  const body = Buffer.from(text);
  const { headers } = await hmac.sign({ url, timestamp: String(NOW), eventId: "evt-1", body });
  const lines = [["Content-Type", "application/json"], ["Webhook-Event-Id", "evt-1"], ...headers] as const;
  return { ...(await signed()), body, headers: lines.map(([name, value]) => [name, value]) };
}

function receiverOf(options: Partial<HttpSignatureVerifierOptions> = {}) {
  const verifier = httpSignatureVerifier({ url, secrets: { "shared-1": secret }, ...options });
  return createReceiver({ verifier, clock });
}

type Request = Awaited<ReturnType<typeof signed>>;

async function codeOf(request: Request, options: Partial<HttpSignatureVerifierOptions> = {}) {
  const { verdict } = await receiverOf(options).receive(request, async () => {});
  return verdict.ok ? "accepted" : verdict.code;
}

/** A request with other values of two headers, all of them signed by who knows the secret. */
async function signedAnew(
  body: string,
  { digests, type }: { digests?: string[]; type?: string },
): Promise<Request> {
  const request = await signed(hmac, body);
  const all = Object.fromEntries(request.headers.map(([name, value]) => [name.toLowerCase(), value]));
  const lines: [string, string][] = [
    ["Content-Type", type ?? String(all["content-type"])],
    ...(digests ?? [String(all["content-digest"])]).map((value): [string, string] => [
      "Content-Digest",
      value,
    ]),
    ["Webhook-Event-Id", String(all["webhook-event-id"])],
  ];
  const names = ["content-type", "content-digest", "webhook-event-id"];
  const covered = names.map((name) => {
    const values = lines.filter(([one]) => one.toLowerCase() === name).map(([, value]) => value);
    return `"${name}": ${values.join(", ")}`;
  });
  const input = String(all["signature-input"]);
  const params = `"@signature-params": ${input.replace("sig1=", "")}`;
  const base = [`"@method": POST`, `"@target-uri": ${url}`, ...covered, params].join("\n");
  const signature = `sig1=:${createHmac("sha256", secret).update(base).digest("base64")}:`;
  return { ...request, headers: [...lines, ["Signature-Input", input], ["Signature", signature]] };
}

const changed = (request: Request, name: string, change: (value: string) => string | undefined): Request => ({
  ...request,
  headers: request.headers.flatMap(([key, value]) => {
    if (key.toLowerCase() !== name) return [[key, value] as [string, string]];
    const now = change(value);
    return now === undefined ? [] : [[key, now] as [string, string]];
  }),
});

describe("HTTP message signatures", () => {
  it("look as RFC 9421 and RFC 9530 have them", async () => {
    const { headers, body } = await signed(hmac, '{"hello": "world"}');
    const all = Object.fromEntries(headers);
    // The digest is the one of RFC 9530, appendix B.
    expect(all["Content-Digest"]).toBe("sha-256=:X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=:");
    expect(all["Signature-Input"]).toBe(
      `sig1=("@method" "@target-uri" "content-type" "content-digest" "webhook-event-id");created=${NOW};keyid="shared-1";alg="hmac-sha256"`,
    );
    expect(all.Signature).toMatch(/^sig1=:[A-Za-z0-9+/]{43}=:$/);
    expect(Buffer.from(body).toString()).toBe('{"hello": "world"}');
  });

  it.each(["EdDSA", "ES256", "RS256"] as const)("by %s, with the keys of tokens", async (alg) => {
    const one = await generateKey({ alg });
    const signer = httpSignatureSigner({ key: { key: one.privateJwk, kid: one.kid, alg }, tag: "events" });
    const keys = localKeys({ keys: [one.publicJwk] });
    const request = await signed(signer);
    expect(await codeOf(request, { keys, tag: "events" })).toBe("accepted");
    expect(await codeOf(request, { keys, tag: "others" })).toBe("SIGNATURE_MALFORMED");
    expect(await codeOf({ ...request, body: Buffer.from('{"n":2}') }, { keys })).toBe("SIGNATURE_MISMATCH");
    if (alg === "RS256") return; // another RSA key takes a second
    const other = await generateKey({ alg });
    const stranger = { ...other.publicJwk, kid: one.kid };
    expect(await codeOf(request, { keys: localKeys({ keys: [stranger] }) })).toBe("SIGNATURE_MISMATCH");
    expect(await codeOf(request)).toBe("KEY_NOT_FOUND");
  });

  it("with a CryptoKey that cannot be read, and with a key service that answers in DER", async () => {
    const request = { name: "ECDSA", namedCurve: "P-256" };
    const pair = (await crypto.subtle.generateKey(request, false, ["sign", "verify"])) as CryptoKeyPair;
    const publicJwk = await crypto.subtle.exportKey("jwk", pair.publicKey);
    const keys = localKeys({ keys: [{ ...publicJwk, kid: "k", alg: "ES256", use: "sig" } as JWK] });
    const own = httpSignatureSigner({ key: { key: pair.privateKey, kid: "k", alg: "ES256" } });
    expect(await codeOf(await signed(own), { keys })).toBe("accepted");

    const elsewhere = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const service = async (bytes: Uint8Array) => sign("sha256", bytes, elsewhere.privateKey);
    const jwk = { ...elsewhere.publicKey.export({ format: "jwk" }), kid: "k", alg: "ES256", use: "sig" };
    const signer = httpSignatureSigner({ key: { key: service, kid: "k", alg: "ES256" } });
    expect(await codeOf(await signed(signer), { keys: localKeys({ keys: [jwk as JWK] }) })).toBe("accepted");
    expect(await codeOf(await signed(signer), { keys })).toBe("SIGNATURE_MISMATCH");
  });

  it("a signer follows a key and a URL that change", async () => {
    const [one, two] = [await generateKey({ alg: "EdDSA" }), await generateKey({ alg: "EdDSA" })];
    let current = one;
    const key = () => ({ key: current.privateJwk, kid: current.kid, alg: "EdDSA" as const });
    const signer = httpSignatureSigner({ key });
    const keys = localKeys({ keys: [one.publicJwk, two.publicJwk] });
    const elsewhere = `${url}/elsewhere`;
    for (const record of [one, two, one]) {
      current = record;
      const request = await signed(signer);
      expect(Object.fromEntries(request.headers)["Signature-Input"]).toContain(`keyid="${record.kid}"`);
      expect(await codeOf(request, { keys })).toBe("accepted");
      const parts = { url: elsewhere, timestamp: String(NOW), eventId: "e-1", body: Buffer.from("1") };
      const { headers } = await signer.sign(parts);
      const other = { ...request, url: elsewhere, body: parts.body };
      const lines: [string, string][] = [
        ["Content-Type", "application/json"],
        ["Webhook-Event-Id", "e-1"],
        ...headers.map(([name, value]): [string, string] => [name, value]),
      ];
      expect(await codeOf({ ...other, headers: lines }, { keys, url: elsewhere })).toBe("accepted");
      expect(await codeOf({ ...request, headers: lines, body: parts.body }, { keys })).toBe(
        "SIGNATURE_MISMATCH",
      );
    }
  });

  it("a receiver takes an id once, by 409", async () => {
    const receiver = receiverOf();
    const seen: unknown[] = [];
    const request = await signed();
    const receive = () => receiver.receive(request, async ({ payload }) => seen.push(payload));
    expect((await receive()).status).toBe(200);
    expect(await receive()).toMatchObject({ status: 409, verdict: { code: "EVENT_DUPLICATE" } });
    expect(seen).toEqual([{ n: 1 }]);
  });

  it("other components, another header of the id", async () => {
    const profile = {
      components: ["@method", "@authority", "@path", "@query"],
      eventIdHeader: "Idempotency-Key",
    } as const;
    const request = await signed(httpSignatureSigner({ secret, keyId: "shared-1", ...profile }));
    expect(await codeOf(request, profile)).toBe("accepted");
    expect(await codeOf(request)).toBe("EVENT_ID_MISSING");
    expect(await codeOf(request, { eventIdHeader: profile.eventIdHeader })).toBe("SIGNATURE_MALFORMED");
  });

  it("are refused for what is wrong, each with its code", async () => {
    const right = await signed();
    const input = (change: (value: string) => string) => changed(right, "signature-input", change);
    const cases: Readonly<Record<string, readonly [Request, string]>> = {
      "no input": [changed(right, "signature-input", () => undefined), "SIGNATURE_MISSING"],
      "no signature": [changed(right, "signature", () => undefined), "SIGNATURE_MISSING"],
      "two inputs": [
        { ...right, headers: [...right.headers, ["signature-input", "a=()"]] },
        "SIGNATURE_MALFORMED",
      ],
      "two signatures": [
        { ...right, headers: [...right.headers, ["Signature", "a=:AA==:"]] },
        "SIGNATURE_MALFORMED",
      ],
      "no dictionary": [input(() => "sig1=(("), "SIGNATURE_MALFORMED"],
      "no inner list": [input(() => "sig1=1"), "SIGNATURE_MALFORMED"],
      "too long": [input((value) => `${value}, ${"a".repeat(8_192)}=()`), "SIGNATURE_MALFORMED"],
      "another label": [input((value) => value.replace("sig1", "sig2")), "SIGNATURE_MALFORMED"],
      "covers less": [input((value) => value.replace(' "content-digest"', "")), "SIGNATURE_MALFORMED"],
      "covers twice": [
        input((value) => value.replace('("@method"', '("@method" "@method"')),
        "SIGNATURE_MALFORMED",
      ],
      "covers what is not there": [
        input((value) => value.replace('("@method"', '("@method" "x-a"')),
        "SIGNATURE_MALFORMED",
      ],
      "with parameters": [
        input((value) => value.replace('("@method"', '("@method";req "@method"')),
        "SIGNATURE_MALFORMED",
      ],
      "no created": [input((value) => value.replace(/created=[0-9]+;/, "")), "TIMESTAMP_MISSING"],
      "created as text": [
        input((value) => value.replace(/created=([0-9]+)/, 'created="$1"')),
        "TIMESTAMP_MALFORMED",
      ],
      expired: [input((value) => `${value};expires=${NOW}`), "TIMESTAMP_OUT_OF_WINDOW"],
      old: [await signed(hmac, "{}", NOW - 301), "TIMESTAMP_OUT_OF_WINDOW"],
      "of the future": [await signed(hmac, "{}", NOW + 301), "TIMESTAMP_OUT_OF_WINDOW"],
      "alg taken away": [input((value) => value.replace(';alg="hmac-sha256"', "")), "SIGNATURE_MISMATCH"],
      "alg as a number": [input((value) => value.replace('alg="hmac-sha256"', "alg=1")), "KEY_NOT_FOUND"],
      "unknown alg": [input((value) => value.replace("hmac-sha256", "none")), "KEY_NOT_FOUND"],
      "another key": [input((value) => value.replace("shared-1", "shared-2")), "KEY_NOT_FOUND"],
      "another time": [
        input((value) => value.replace(/created=[0-9]+/, `created=${NOW - 1}`)),
        "SIGNATURE_MISMATCH",
      ],
      "another body": [{ ...right, body: Buffer.from("{}") }, "SIGNATURE_MISMATCH"],
      "another digest": [
        changed(right, "content-digest", (value) => value.replace("sha-256", "sha-1")),
        "SIGNATURE_MISMATCH",
      ],
      "another id": [changed(right, "webhook-event-id", () => "another"), "SIGNATURE_MISMATCH"],
      "no id": [changed(right, "webhook-event-id", () => undefined), "EVENT_ID_MISSING"],
      "two ids": [
        { ...right, headers: [...right.headers, ["Webhook-Event-Id", "another"]] },
        "EVENT_ID_MALFORMED",
      ],
      "another path": [{ ...right, url: "/other?tenant=7" }, "LISTENER_UNKNOWN"],
      "another query": [{ ...right, url: "/events?tenant=8" }, "LISTENER_UNKNOWN"],
      "another type": [changed(right, "content-type", () => "text/plain"), "SIGNATURE_MISMATCH"],
      "no JSON": [await signedText("{"), "BODY_NOT_JSON"],
    };
    for (const [name, [request, code]] of Object.entries(cases))
      expect(await codeOf(request), name).toBe(code);
  });

  it("one of up to 8 is enough, and more are refused", async () => {
    const right = await signed();
    const others = (count: number) => {
      const more = (value: string, member: string) =>
        [...Array.from({ length: count }, (_, n) => `p${n}=${member}`), value].join(", ");
      const wrong = `("@method");created=${NOW};keyid="proxy";alg="ed25519"`;
      return changed(
        changed(right, "signature-input", (value) => more(value, wrong)),
        "signature",
        (value) => more(value, ":AAAA:"),
      );
    };
    expect(await codeOf(others(7))).toBe("accepted");
    expect(await codeOf(others(8))).toBe("SIGNATURE_MALFORMED");
  });

  it("a digest that is signed is believed only if it is one, and the body's", async () => {
    const body = '{"n":1}';
    const digestOf = (name: "sha256" | "sha512", text: string) =>
      createHash(name).update(text).digest("base64");
    const right = `sha-256=:${digestOf("sha256", body)}:`;
    const longer = `sha-512=:${digestOf("sha512", body)}:`;
    const filled = `x="${"a".repeat(20_000)}"`;
    const cases: [string[], string][] = [
      [[right], "accepted"],
      [[longer], "accepted"],
      [[`${right}, ${longer}`], "accepted"],
      [[`x=1, ${right}`], "accepted"],
      [[right, right], "SIGNATURE_MISMATCH"],
      [[right, longer], "SIGNATURE_MISMATCH"],
      [[`${right}, ${filled}`], "SIGNATURE_MISMATCH"],
      [[`sha-256=:${digestOf("sha256", "{}")}:`], "SIGNATURE_MISMATCH"],
      [[`${right}, sha-512=:${digestOf("sha512", "{}")}:`], "SIGNATURE_MISMATCH"],
      [["md5=:AAAA:"], "SIGNATURE_MISMATCH"],
      [["sha-256=1"], "SIGNATURE_MISMATCH"],
      [[right.slice(0, -1)], "SIGNATURE_MISMATCH"],
    ];
    for (const [digests, code] of cases)
      expect(await codeOf(await signedAnew(body, { digests })), digests.join(" | ").slice(0, 80)).toBe(code);
  });

  it("a media type that is signed has to be that of JSON", async () => {
    expect(await codeOf(await signedAnew("{}", { type: "application/json; charset=utf-8" }))).toBe(
      "accepted",
    );
    for (const type of ["text/plain", "application/jsonl", "application/x-www-form-urlencoded"])
      expect(await codeOf(await signedAnew("{}", { type })), type).toBe("CONTENT_TYPE_UNSUPPORTED");
  });

  it("without alg the key of keyid decides (RFC 9421, 3.2)", async () => {
    const { privateKey, publicKey } = generateKeyPairSync("ed25519");
    const jwk = { ...publicKey.export({ format: "jwk" }), kid: "s", alg: "EdDSA", use: "sig" } as JWK;
    const other = (await generateKey({ alg: "ES256", kid: "e" })).publicJwk;
    const keys = localKeys({ keys: [other, jwk] });
    /** A signer that leaves alg out, as the RFC advises. */
    const without = async (keyid: string, signBase: (base: string) => string): Promise<Request> => {
      const right = await signed();
      const shown = right.headers.find(([name]) => name === "Signature-Input")?.[1] ?? "";
      const input = shown.replace(';alg="hmac-sha256"', "").replace("shared-1", keyid).replace("sig1=", "");
      const all = Object.fromEntries(right.headers.map(([name, value]) => [name.toLowerCase(), value]));
      const covered = ["content-type", "content-digest", "webhook-event-id"];
      const lines = covered.map((name) => `"${name}": ${all[name]}`);
      const base = [`"@method": POST`, `"@target-uri": ${url}`, ...lines, `"@signature-params": ${input}`];
      const signature = `sig1=:${signBase(base.join("\n"))}:`;
      return changed(
        changed(right, "signature-input", () => `sig1=${input}`),
        "signature",
        () => signature,
      );
    };
    const byKey = (base: string) => sign(null, Buffer.from(base), privateKey).toString("base64");
    const bySecret = (base: string) => createHmac("sha256", secret).update(base).digest("base64");
    expect(await codeOf(await without("s", byKey), { keys })).toBe("accepted");
    expect(await codeOf(await without("shared-1", bySecret), { keys })).toBe("accepted");
    expect(await codeOf(await without("e", byKey), { keys })).toBe("SIGNATURE_MISMATCH");
    expect(await codeOf(await without("nobody", byKey), { keys })).toBe("KEY_NOT_FOUND");
    const bothKinds = localKeys({ keys: [{ ...other, kid: "s" }, jwk] });
    expect(await codeOf(await without("s", byKey), { keys: bothKinds })).toBe("accepted");
    // Whoever knows the public key signs with its bytes as a secret.
    const confused = (base: string) =>
      createHmac("sha256", Buffer.from(jwk.x ?? "", "base64url"))
        .update(base)
        .digest("base64");
    expect(await codeOf(await without("s", confused), { keys })).toBe("SIGNATURE_MISMATCH");
  });

  it("a public key is no secret, and a request of another scheme is none of this", async () => {
    const { kid, publicJwk } = await generateKey({ alg: "EdDSA" });
    const keys = localKeys({ keys: [publicJwk] });
    // Whoever knows the public key signs with its bytes as a secret.
    const confused = httpSignatureSigner({ secret: Buffer.from(publicJwk.x ?? "", "base64url"), keyId: kid });
    expect(await codeOf(await signed(confused), { keys })).toBe("KEY_NOT_FOUND");
    const listener = "https://hooks.example.com/api/v1/webhooks/incoming/lst_1";
    const event = createEvent({ n: 1 });
    const ours = await signRequest({ url: listener, signer: hmacSigner({ secret }), event, timestamp: NOW });
    const verifier = httpSignatureVerifier({ url: listener, secrets: { "shared-1": secret } });
    const { verdict } = await createReceiver({ verifier, clock }).receive(ours, async () => {});
    expect(verdict).toMatchObject({ ok: false, code: "SIGNATURE_MISSING" });
  });

  it("options that cannot work are refused at once", () => {
    const wrong: readonly (() => unknown)[] = [
      () => httpSignatureSigner({ secret: "short", keyId: "a" }),
      () => httpSignatureSigner({ secret, keyId: "" }),
      () => httpSignatureSigner({} as never),
      () => httpSignatureSigner({ secret, keyId: "a", components: [] }),
      () => httpSignatureSigner({ secret, keyId: "a", components: ["@status" as never] }),
      () => httpSignatureSigner({ secret, keyId: "a", tag: "a\nb" }),
      () => httpSignatureSigner({ secret, keyId: "a", eventIdHeader: "a b" }),
      () => httpSignatureVerifier({ url }),
      () => httpSignatureVerifier({ url: "/events", secrets: { a: secret } }),
      () => httpSignatureVerifier({ url, secrets: { a: "short" } }),
    ];
    for (const make of wrong) expect(make).toThrow(TypeError);
  });

  it("the sender sends them again after 503, each time signed again, and takes 409 for an earlier copy", async () => {
    const receiver = receiverOf();
    let requests = 0;
    const created = new Set<string | undefined>();
    const transport = async (request: {
      url: string;
      headers: Iterable<readonly [string, string]>;
      body: Uint8Array;
    }) => {
      const headers = [...request.headers];
      created.add(/created=[0-9]+/.exec(Object.fromEntries(headers)["Signature-Input"] ?? "")?.[0]);
      const { status, headers: answered } = await receiver.receive(
        { method: "POST", url, headers, body: request.body },
        async () => {},
      );
      return { status: requests++ === 0 ? 503 : status, headers: answered, body: new Uint8Array() };
    };
    const own = fixedClock(NOW * 1_000);
    const wait = async (ms: number) => own.advance(ms);
    const sender = createSender({ url, signer: hmac, transport: transport as never, clock: own, wait });
    const { status, outcome } = await sender.send({ n: 1 });
    expect([status, outcome, requests, created.size]).toEqual([409, "accepted", 2, 2]);
  });

  it("go through the outbox next to listeners of the default scheme", async () => {
    const receiver = receiverOf();
    const seen: unknown[] = [];
    const transport = async (request: { headers: Iterable<readonly [string, string]>; body: Uint8Array }) => {
      const { status } = await receiver.receive(
        { method: "POST", url, headers: [...request.headers], body: request.body },
        async ({ payload }) => seen.push(payload),
      );
      return { status, headers: [], body: new Uint8Array() };
    };
    const listeners = { one: { url, signer: hmac, transport: transport as never } };
    const outbox = createOutbox({ store: memoryStore({ clock }), listeners, clock, quiet: true });
    const { eventId } = await outbox.enqueue({ listener: "one", payload: { n: 5 } });
    await outbox.drain();
    expect((await outbox.find(eventId))[0]?.state).toBe("delivered");
    expect(seen).toEqual([{ n: 5 }]);
  });
});
