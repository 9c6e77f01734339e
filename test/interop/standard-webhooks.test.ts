import { execFileSync } from "node:child_process";
import { createEvent, createSender, DeliveryError, signRequest } from "hookproof";
import { toNodeListener } from "hookproof/node";
import { createReceiver } from "hookproof/receiver";
import {
  generateStandardKeys,
  generateStandardSecret,
  standardWebhooksSigner,
  standardWebhooksVerifier,
} from "hookproof/standard-webhooks";
import { expect, it } from "vitest";
import { httpServer, started } from "../kit/local-server.js";
import { describeWith } from "../kit/needs.js";
import { otherPeoples } from "../kit/other-people.js";
import { hasTool } from "../kit/outside-tool.js";

/** What both packages have: svix has standardwebhooks 1.0 inside and adds headers of its own. */
interface Library {
  Webhook: new (
    secret: string,
    options?: { format: "raw" },
  ) => {
    sign(id: string, timestamp: Date, payload: string): string;
    verify(payload: string, headers: Record<string, string>): unknown;
  };
}

const PAYLOADS = [{ type: "user.offboarded" }, [], "café 🔐", { text: "x".repeat(60_000) }];

for (const name of ["standardwebhooks", "svix"]) {
  const library = otherPeoples<Library>(name);
  describeWith("npm ci --prefix test/interop", library)(`the package ${name}`, () => {
    const { Webhook } = (library ?? {}) as Library;

    it("verifies over HTTP what we send, also while the secret is rotated", async () => {
      const [old, current] = [generateStandardSecret(), generateStandardSecret()];
      const { privateKey } = await generateStandardKeys();
      const verified: unknown[] = [];
      const server = await started(
        httpServer(async (req, res) => {
          const chunks: Uint8Array[] = [];
          for await (const chunk of req) chunks.push(chunk as Uint8Array);
          try {
            const headers = req.headers as Record<string, string>;
            verified.push(new Webhook(old).verify(Buffer.concat(chunks).toString("utf8"), headers));
            res.statusCode = 204;
          } catch {
            res.statusCode = 400;
          }
          res.end();
        }),
      );
      const sender = (secrets: string[]) =>
        createSender({
          url: `http://127.0.0.1:${server.port}/hooks`,
          signer: standardWebhooksSigner({ secrets }),
        });
      for (const payload of PAYLOADS)
        expect(await sender([privateKey, current, old]).send(JSON.stringify(payload))).toMatchObject({
          status: 204,
        });
      expect(verified).toEqual(PAYLOADS);
      await expect(sender([current]).send({})).rejects.toThrow(DeliveryError);
    });

    it("signs what our receiver accepts over HTTP, and nothing that was changed", async () => {
      const secret = generateStandardSecret();
      const receiver = createReceiver({ verifier: standardWebhooksVerifier({ secrets: secret }) });
      const received: unknown[] = [];
      const server = await started(
        httpServer(toNodeListener(receiver, async ({ id, payload }) => received.push([id, payload]))),
      );
      const post = async (id: string, body: string, sent = body) => {
        const now = new Date();
        const headers = {
          "webhook-id": id,
          "webhook-timestamp": String(Math.floor(now.getTime() / 1000)),
          "webhook-signature": new Webhook(secret).sign(id, now, body),
        };
        return (await fetch(`http://127.0.0.1:${server.port}`, { method: "POST", headers, body: sent }))
          .status;
      };
      for (const [n, payload] of PAYLOADS.entries())
        expect(await post(`msg_${n}`, JSON.stringify(payload))).toBe(200);
      expect(await post("msg_0", JSON.stringify(PAYLOADS[0]))).toBe(200);
      expect(received).toEqual(PAYLOADS.map((payload, n) => [`msg_${n}`, payload]));
      expect(await post("msg_9", '{"a":1}', '{"a":2}')).toBe(401);
    });

    it("agrees on secrets without a prefix, raw ones and loosely padded ones, and on Svix's headers where it has them", async () => {
      const encoded = generateStandardSecret().slice("whsec_".length);
      const loose = "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwBr";
      const raw = "a raw secret; letter by letter";
      const cases = [
        [encoded, { secretForm: "base64" }, undefined],
        [raw, { secretForm: "raw" }, { format: "raw" }],
        [`whsec_${loose}`, { loosePadding: true }, undefined],
        [`${loose}=`, { secretForm: "base64", loosePadding: true }, undefined],
      ] as const;
      for (const headerNames of name === "svix" ? (["webhook", "svix"] as const) : (["webhook"] as const))
        for (const [secrets, form, theirs] of cases) {
          const options = { secrets, headerNames, ...form };
          const event = createEvent({ text: "café" });
          const signer = standardWebhooksSigner(options);
          const request = await signRequest({ url: "https://hooks.example.com", signer, event });
          const other = new Webhook(secrets, theirs);
          const text = Buffer.from(request.body).toString("utf8");
          expect(other.verify(text, request.headers)).toEqual({ text: "café" });
          const now = new Date();
          const lines = {
            [`${headerNames}-id`]: "msg_1",
            [`${headerNames}-timestamp`]: String(Math.floor(now.getTime() / 1000)),
            [`${headerNames}-signature`]: other.sign("msg_1", now, text),
          };
          const receiver = createReceiver({ verifier: standardWebhooksVerifier(options) });
          const verdict = await receiver.verify({ method: "POST", url: "/", headers: lines, body: text });
          expect(verdict.ok, JSON.stringify([headerNames, form])).toBe(true);
        }
    });
  });
}

const PYTHON = "/usr/bin/python3";
const hasCryptography = hasTool(PYTHON, "-c", "import cryptography");

/** Reads a request and the keys as JSON; says whether it verifies, and signs one itself. */
const IN_PYTHON = `
import base64, hashlib, hmac, json, sys
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
given = json.load(sys.stdin)
signed = (given["id"] + "." + given["timestamp"] + "." + given["body"]).encode()
decoded = {name: base64.b64decode(given[name].split("_", 1)[1]) for name in ("secret", "privateKey", "publicKey")}
signatures = dict(one.split(",", 1) for one in given["signature"].split(" "))
mac = hmac.new(decoded["secret"], signed, hashlib.sha256).digest()
Ed25519PublicKey.from_public_bytes(decoded["publicKey"]).verify(base64.b64decode(signatures["v1a"]), signed)
made = Ed25519PrivateKey.from_private_bytes(decoded["privateKey"]).sign(signed)
print(json.dumps({
  "same": hmac.compare_digest(mac, base64.b64decode(signatures["v1"])),
  "v1": "v1," + base64.b64encode(mac).decode(),
  "v1a": "v1a," + base64.b64encode(made).decode(),
}))`;

describeWith("python3 with cryptography", hasCryptography)("Python's hmac and cryptography", () => {
  it("verify both signatures, and make the same", async () => {
    const secret = generateStandardSecret();
    const keys = await generateStandardKeys();
    const event = createEvent({ text: "café 🔐" });
    const signer = standardWebhooksSigner({ secrets: [secret, keys.privateKey] });
    const { headers, body } = await signRequest({ url: "https://hooks.example.com", signer, event });
    const [id, timestamp, signature] = ["id", "timestamp", "signature"].map(
      (part) => headers[`webhook-${part}`] ?? "",
    );
    const input = JSON.stringify({
      ...keys,
      secret,
      id,
      timestamp,
      signature,
      body: Buffer.from(body).toString("utf8"),
    });
    const made = JSON.parse(execFileSync(PYTHON, ["-c", IN_PYTHON], { input, encoding: "utf8" }));
    expect(made.same).toBe(true);
    expect(signature).toBe(`${made.v1} ${made.v1a}`); // Ed25519 is deterministic
    for (const [secrets, one] of [
      [secret, made.v1],
      [keys.publicKey, made.v1a],
    ]) {
      const receiver = createReceiver({ verifier: standardWebhooksVerifier({ secrets }) });
      const lines = { ...headers, "webhook-signature": one };
      expect((await receiver.verify({ method: "POST", url: "/", headers: lines, body })).ok).toBe(true);
    }
  });
});
