import { createHash, createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { mistakesOf } from "../../kit/mistakes-of.js";

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const id = "msg_p5jXN8AQM9LWM0D4loKWxJek";
const timestamp = "1614265330";
const body = '{"test": 2432232314}';

const decoded = Buffer.from(secret.slice(6), "base64");
const mac = (key: Buffer | string, text: string) => createHmac("sha256", key).update(text).digest();
const right = `${id}.${timestamp}.${body}`;
const base64 = (digest: Buffer) => `v1,${digest.toString("base64")}`;

it.each<[string, string[], string]>([
  ["nothing", [], base64(mac(decoded, right))],
  ["the base64 text as the key", ["secret-not-decoded"], base64(mac(secret.slice(6), right))],
  ["the whole text as the key", ["secret-prefix-kept"], base64(mac(secret, right))],
  ["the whole text decoded", ["secret-prefix-kept"], base64(mac(Buffer.from(secret, "base64"), right))],
  ["the other order", ["parts-in-other-order"], base64(mac(decoded, `${timestamp}.${id}.${body}`))],
  ["no id", ["id-not-signed"], base64(mac(decoded, `${timestamp}.${body}`))],
  ["no timestamp", ["timestamp-not-signed"], base64(mac(decoded, `${id}.${body}`))],
  ["the body alone", ["body-alone-signed"], base64(mac(decoded, body))],
  ["msg_ twice", ["id-prefix-differs"], base64(mac(decoded, `msg_${right}`))],
  ["no msg_", ["id-prefix-differs"], base64(mac(decoded, right.slice(4)))],
  [
    "milliseconds",
    ["timestamp-signed-in-milliseconds"],
    base64(mac(decoded, `${id}.${timestamp}000.${body}`)),
  ],
  [
    "a body written again",
    ["body-reserialised"],
    base64(mac(decoded, `${id}.${timestamp}.{"test":2432232314}`)),
  ],
  ["a line break", ["body-line-break"], base64(mac(decoded, `${right}\n`))],
  ["no version", ["version-missing"], mac(decoded, right).toString("base64")],
  ["hex", ["signature-in-hex"], `v1,${mac(decoded, right).toString("hex")}`],
  ["base64url", ["signature-in-base64url"], `v1,${mac(decoded, right).toString("base64url")}`],
  ["an equals sign", ["separator-differs"], `v1=${mac(decoded, right).toString("base64")}`],
  ["two at once", ["secret-not-decoded", "signature-in-hex"], mac(secret.slice(6), right).toString("hex")],
  [
    "one of several signatures",
    ["secret-not-decoded"],
    `v1,AAAA ${base64(mac(secret.slice(6), right))} v2,b`,
  ],
  ["the decoded secret in hex", ["secret-key-as-text"], base64(mac(decoded.toString("hex"), right))],
  ["the decoded secret as UTF-8", ["secret-key-as-text"], base64(mac(decoded.toString("utf8"), right))],
  ["the underscore kept", ["secret-prefix-kept"], base64(mac(secret.slice(5), right))],
  [
    "the secret in base64",
    ["secret-encoded-again"],
    base64(mac(Buffer.from(secret).toString("base64"), right)),
  ],
  ["a line break after the secret", ["secret-with-more"], base64(mac(`${secret}\n`, right))],
  ["the secret hashed", ["secret-hashed"], base64(mac(createHash("sha256").update(secret).digest(), right))],
  ["no secret", ["secret-missing"], base64(mac("", right))],
  ["a date", ["timestamp-signed-otherwise"], base64(mac(decoded, `${id}.2021-02-25T15:02:10.000Z.${body}`))],
  ["no periods", ["parts-joined-otherwise"], base64(mac(decoded, `${id}${timestamp}${body}`))],
  ["line breaks between", ["parts-joined-otherwise"], base64(mac(decoded, `${id}\n${timestamp}\n${body}`))],
  [
    "the id in small letters",
    ["id-signed-otherwise"],
    base64(mac(decoded, right.replace(id, id.toLowerCase()))),
  ],
  ["a byte order mark", ["body-bom"], base64(mac(decoded, `${id}.${timestamp}.\uFEFF${body}`))],
  [
    "a body in quotes",
    ["body-stringified-twice"],
    base64(mac(decoded, `${id}.${timestamp}.${JSON.stringify(body)}`)),
  ],
  ["no body", ["body-empty"], base64(mac(decoded, `${id}.${timestamp}.`))],
  ["another version", ["version-differs"], base64(mac(decoded, right)).replace("v1", "v0")],
  ["signatures joined by a comma", ["signatures-joined-otherwise"], `v1,AAAA,${base64(mac(decoded, right))}`],
  ["quotes", ["signature-quoted"], `"${base64(mac(decoded, right))}"`],
  ["base64 of hex", ["signature-encoded-twice"], base64(Buffer.from(mac(decoded, right).toString("hex")))],
  ["another hash", ["signature-other-hash"], base64(createHmac("sha1", decoded).update(right).digest())],
  ["a list of bytes", ["signature-in-other-form"], `v1,${mac(decoded, right).join(",")}`],
  ["a cut signature", ["signature-damaged"], base64(mac(decoded, right)).slice(0, 30)],
  [
    "key and message swapped",
    ["hmac-arguments-swapped"],
    base64(createHmac("sha256", right).update(decoded).digest()),
  ],
  ["a hash", ["hash-instead-of-hmac"], base64(createHash("sha256").update(decoded).update(right).digest())],
  ["the other kind", ["signature-of-other-kind"], "v1a,AAAA"],
  ["another secret", ["signature-unexplained"], base64(mac("another", right))],
])("%s: %j", async (_, ids, signature) => {
  const headers = { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signature };
  const found = await mistakesOf("standard-webhooks", { secrets: secret, headers, body });
  expect(found.map((one) => one.id)).toEqual(ids);
  expect(JSON.stringify(found)).not.toContain(secret.slice(6));
});

it("a secret that is hex, and was read as hex: secret-in-hex", async () => {
  const hex = "3f8a1c5d9e0b47a26c8f1e3d5b7a9c0d2e4f6a8b1c3d5e7f";
  const signature = base64(mac(Buffer.from(hex, "hex"), right));
  const headers = { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signature };
  const found = await mistakesOf("standard-webhooks", { secrets: `whsec_${hex}`, headers, body });
  expect(found.map((one) => one.id)).toEqual(["secret-in-hex"]);
});

it.each([
  ["milliseconds", "1614265330000", "timestamp-in-milliseconds"],
  ["decimals", "1614265330.5", "timestamp-with-decimals"],
  ["a date", "2021-02-25T15:02:10Z", "timestamp-is-a-date"],
  ["a word", "soon", "timestamp-not-a-number"],
])("a timestamp of another form: %s", async (_, given, expected) => {
  const signature = base64(mac(decoded, `${id}.${given}.${body}`));
  const headers = { "webhook-id": id, "webhook-timestamp": given, "webhook-signature": signature };
  const found = await mistakesOf("standard-webhooks", { secrets: secret, headers, body });
  expect(found.map((one) => one.id)).toEqual([expected]);
});

it.each<[what: string, ids: string[], names: [string, string, string]]>([
  ["of Svix", ["headers-of-svix"], ["svix-id", "svix-timestamp", "svix-signature"]],
  ["of others", ["header-misnamed"], ["X-Webhook-Id", "X-Webhook-Timestamp", "X-Webhook-Signature"]],
  ["of which one is missing", ["header-missing"], ["webhook-id", "date", "webhook-signature"]],
])("headers %s", async (_, ids, names) => {
  const values = [id, timestamp, base64(mac(decoded, right))];
  const headers = Object.fromEntries(names.map((name, place) => [name, values[place] as string]));
  const found = await mistakesOf("standard-webhooks", { secrets: secret, headers, body });
  expect(found.map((one) => one.id)).toEqual(ids);
});

describe("what two sides have agreed on otherwise", () => {
  const values = [id, timestamp, base64(mac(decoded, right))];
  const named = (prefix: string) =>
    Object.fromEntries(
      ["id", "timestamp", "signature"].map((part, n) => [`${prefix}-${part}`, values[n] as string]),
    );

  it.each(["svix", "x-webhook"] as const)(
    "headers named %s-id are right, and others misnamed",
    async (names) => {
      const agreed = { secrets: secret, headerNames: names, body };
      expect(await mistakesOf("standard-webhooks", { ...agreed, headers: named(names) })).toEqual([]);
      const [found] = await mistakesOf("standard-webhooks", { ...agreed, headers: named("webhook") });
      expect(found).toMatchObject({
        id: "header-misnamed",
        message: expect.stringContaining("There is webhook-id, webhook-timestamp, webhook-signature."),
        fix: expect.stringContaining(
          `Send ${names}-id, ${names}-timestamp and ${names}-signature, each once.`,
        ),
      });
    },
  );

  it("secrets without a prefix: what was not decoded is found all the same", async () => {
    const agreed = {
      secrets: secret.slice(6),
      secretForm: "base64",
      headers: named("webhook"),
      body,
    } as const;
    expect(await mistakesOf("standard-webhooks", agreed)).toEqual([]);
    const wrong = base64(mac(secret.slice(6), right));
    const headers = { ...named("webhook"), "webhook-signature": wrong };
    const found = await mistakesOf("standard-webhooks", { ...agreed, headers });
    expect(found.map((one) => one.id)).toEqual(["secret-not-decoded"]);
  });

  it("raw secrets and loose padding", async () => {
    const raw = "a secret whose text is the key";
    const headers = { ...named("webhook"), "webhook-signature": base64(mac(raw, right)) };
    expect(await mistakesOf("standard-webhooks", { secrets: raw, secretForm: "raw", headers, body })).toEqual(
      [],
    );
    const loose = { secrets: `${secret}==`, loosePadding: true, headers: named("webhook"), body };
    expect(await mistakesOf("standard-webhooks", loose)).toEqual([]);
  });
});

it("of signatures that are right or random, no cause is given", async () => {
  for (let n = 0; n < 120; n++) {
    const key = createHash("sha256").update(String(n)).digest();
    const text = JSON.stringify({ n, list: [1.5, null, "é"], more: key.toString("hex").slice(0, n % 60) });
    const digest = createHmac("sha256", key)
      .update(`${id}.${timestamp}.${text}${n % 2 ? "#" : ""}`)
      .digest();
    const headers = { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": base64(digest) };
    const secrets = `whsec_${key.toString("base64")}`;
    const found = await mistakesOf("standard-webhooks", { secrets, headers, body: text });
    expect(found.map((one) => one.id)).toEqual(n % 2 ? ["signature-unexplained"] : []);
  }
});
