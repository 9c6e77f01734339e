import { createHmac } from "node:crypto";
import { expect, it } from "vitest";
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
  ["milliseconds", ["timestamp-in-milliseconds"], base64(mac(decoded, `${id}.${timestamp}000.${body}`))],
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
  ["another secret", [], base64(mac("another", right))],
])("%s: %j", async (_, ids, signature) => {
  const headers = { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signature };
  const found = await mistakesOf("standard-webhooks", { secrets: secret, headers, body });
  expect(found.map((one) => one.id)).toEqual(ids);
  expect(JSON.stringify(found)).not.toContain(secret.slice(6));
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
