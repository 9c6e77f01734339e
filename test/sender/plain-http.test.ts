import {
  createEvent,
  createSender,
  hmacSigner,
  jwtSigner,
  newEventId,
  signRequest,
  type TransportRequest,
} from "hookproof";
import { generateKey } from "hookproof/jwks";
import { createOutbox, memoryStore } from "hookproof/outbox";
import { runProbes } from "hookproof/probes";
import { createReceiver } from "hookproof/receiver";
import { generateStandardSecret, standardWebhooksSigner } from "hookproof/standard-webhooks";
import { describe, expect, it } from "vitest";

const SECRET = "QSBrZXkgZm9yIEhvb2twcm9vZiB0ZXN0cyBvbmx5ISE";
const PATH = "/api/v1/webhooks/incoming/lst_1";
const signer = hmacSigner({ secret: SECRET });
const refused = expect.objectContaining({ code: "TLS_REQUIRED" });

const seen: TransportRequest[] = [];
const transport = async (request: TransportRequest) => {
  seen.push(request);
  return { status: 200, headers: [], body: Buffer.from("{}"), truncated: false };
};

describe("plain HTTP in development", () => {
  it.each([
    ["http://app:3000", ["app"]],
    ["http://APP:3000", ["App"]],
    ["http://shop.localhost:3000", ["*.localhost"]],
    ["http://a.b.localhost", ["*.localhost"]],
    ["http://host.docker.internal:8080", ["host.docker.internal"]],
    ["http://my_app.test", ["my_app.test"]],
    ["http://app.:3000", ["app"]],
  ])("%s is sent to where plainHttpHosts names it, and refused without", async (origin, plainHttpHosts) => {
    const url = `${origin}${PATH}`;
    const { privateJwk: key } = await generateKey({ alg: "ES256" });
    const standard = standardWebhooksSigner({ secrets: generateStandardSecret() });
    for (const one of [signer, jwtSigner({ key, kid: "k1", alg: "ES256" }), standard]) {
      expect(() => createSender({ url, signer: one })).toThrow(refused);
      expect(() => createSender({ url, signer: one, plainHttpHosts: ["other"] })).toThrow(refused);
      const sender = createSender({ url, signer: one, transport, plainHttpHosts });
      expect((await sender.send({ a: 1 })).status).toBe(200);
      expect(new URL(seen.at(-1)?.url ?? "").protocol).toBe("http:");
    }
  });

  it("opens no name that public DNS may have, and no address", () => {
    const names = [
      "example.com",
      "*",
      "*.com",
      "10.0.0.1",
      "[::1]",
      "",
      "app:80",
      "a.internal.com",
      "*.internal",
      " app",
    ];
    for (const name of names)
      expect(() => createSender({ url: `https://x${PATH}`, signer, plainHttpHosts: [name] })).toThrow(
        /^plainHttpHosts cannot have /,
      );
    expect(() => createSender({ url: `https://x${PATH}`, signer, plainHttpHosts: "app" as never })).toThrow(
      "plainHttpHosts must be a list of texts",
    );
  });

  it("is no more for a token's signer that is called by itself", async () => {
    const { privateJwk: key, kid, alg } = await generateKey({ alg: "ES256" });
    const tokens = jwtSigner({ key, kid, alg });
    const signed = (origin: string) =>
      tokens.sign({ url: `${origin}${PATH}`, timestamp: "1", eventId: newEventId(), body: new Uint8Array() });
    await expect(signed("http://example.com")).rejects.toEqual(refused);
    await expect(signed("http://app:3000")).resolves.toHaveProperty("headers");
  });

  it("is the same for signRequest, an outbox's listener and the probes", async () => {
    const url = `http://app:3000${PATH}`;
    const event = createEvent(1);
    await expect(signRequest({ url, signer, event })).rejects.toEqual(refused);
    expect((await signRequest({ url, signer, event, plainHttpHosts: ["app"] })).url).toBe(url);
    const outboxFor = (plainHttpHosts?: string[]) =>
      createOutbox({ store: memoryStore(), listeners: { a: { url, signer, plainHttpHosts } } });
    expect(() => outboxFor()).toThrow(refused);
    expect(() => outboxFor(["app"])).not.toThrow();
    const auth = { method: "hmac", secret: SECRET } as const;
    const probes = (plainHttpHosts?: string[]) =>
      runProbes({ url, auth, plainHttpHosts }, { only: "event-id-nil", transport }).next();
    await expect(probes()).rejects.toEqual(refused);
    expect((await probes(["app"])).value).toMatchObject({ id: "event-id-nil" });
  });
});

describe("the header Authorization", () => {
  const url = `https://tenant.example.com${PATH}`;
  const headers = { Authorization: "Basic dXNlcjpwYXNz" };

  it("is free next to a signature, for a gateway, and the receiver takes the request", async () => {
    await createSender({ url, signer, transport, headers }).send({ a: 1 });
    const request = seen.at(-1) as TransportRequest;
    expect(Object.fromEntries(request.headers).Authorization).toBe(headers.Authorization);
    const receiver = createReceiver({
      listener: {
        id: "lst_1",
        baseUrl: "https://tenant.example.com",
        auth: { method: "hmac", secret: SECRET },
      },
    });
    expect((await receiver.verify({ ...request, body: Buffer.from(request.body ?? []) })).ok).toBe(true);
  });

  it("is the token's own with a key", async () => {
    const { privateJwk: key } = await generateKey({ alg: "ES256" });
    const byKey = jwtSigner({ key, kid: "k1", alg: "ES256" });
    expect(() => createSender({ url, signer: byKey, headers })).toThrow(
      "headers must not set Authorization: it belongs to the protocol",
    );
  });
});
