// Sign and send, 1 KB, 50 at once, to another process: what does the library cost over its bare transport, and
// what do others cost? Peers are used as their documentation shows; `npm ci --prefix bench` installs them.
import { fork } from "node:child_process";
import { once } from "node:events";
import { Agent, request as httpRequest } from "node:http";
import axios from "axios";
import got from "got";
import { createSender, hmacSigner, newEventId } from "hookproof";
import { undiciTransport } from "hookproof/node";
import { Webhook as StandardWebhook } from "standardwebhooks";
import Stripe from "stripe";
import { Webhook as SvixWebhook } from "svix";
import { Pool } from "undici";
import { interleaved, report } from "./support.mjs";

const IN_FLIGHT = 50;
const EACH = 5;

const receiver = fork(new URL("send-receiver.mjs", import.meta.url));
const [port] = await once(receiver, "message");
const origin = `http://127.0.0.1:${port}`;
const path = "/api/v1/webhooks/incoming/lst_bench";
const url = origin + path;

const payload = { type: "user.offboarded", userId: "u_123", note: "x".repeat(967) };
const body = Buffer.from(JSON.stringify(payload));
const base64Secret = Buffer.alloc(32, 7).toString("base64");
const headers = { "Content-Type": "application/json" };

const agent = new Agent({ keepAlive: true });
const overHttp = () =>
  new Promise((resolve, reject) => {
    const request = httpRequest({
      host: "127.0.0.1",
      port,
      path,
      method: "POST",
      agent,
      headers: { ...headers, "Content-Length": body.length },
    });
    request.on("response", (response) => response.on("data", () => {}).on("end", resolve));
    request.on("error", reject);
    request.end(body);
  });

const pool = new Pool(origin, { connections: IN_FLIGHT });
const overUndici = async () => {
  const response = await pool.request({ path, method: "POST", headers, body });
  await response.body.dump();
};

const signer = hmacSigner({ secret: Buffer.alloc(32, 7).toString("base64url") });
const ours = createSender({ url, signer });
const oursOverUndici = createSender({
  url,
  signer,
  transport: undiciTransport(new Pool(origin, { connections: IN_FLIGHT })),
});

const svix = new SvixWebhook(`whsec_${base64Secret}`);
const withSvix = async () => {
  const [id, now, text] = [newEventId(), new Date(), JSON.stringify(payload)];
  const response = await fetch(url, {
    method: "POST",
    headers: {
      ...headers,
      "svix-id": id,
      "svix-timestamp": String(Math.floor(now.getTime() / 1000)),
      "svix-signature": svix.sign(id, now, text),
    },
    body: text,
  });
  await response.text();
};

const standard = new StandardWebhook(base64Secret);
const withGot = () => {
  const [id, now, text] = [newEventId(), new Date(), JSON.stringify(payload)];
  return got.post(url, {
    headers: {
      ...headers,
      "webhook-id": id,
      "webhook-timestamp": String(Math.floor(now.getTime() / 1000)),
      "webhook-signature": standard.sign(id, now, text),
    },
    body: text,
  });
};

const { webhooks } = new Stripe("sk_test_none");
const withAxios = () => {
  const text = JSON.stringify(payload);
  const signature = webhooks.generateTestHeaderString({ payload: text, secret: base64Secret });
  return axios.post(url, text, { headers: { ...headers, "Stripe-Signature": signature } });
};

/** Many in flight, each worker one after the other. */
const atOnce = (send) => async () => {
  const worker = async () => {
    for (let i = 0; i < EACH; i++) await send();
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, worker));
};

const results = await interleaved(
  {
    "bare node:http": atOnce(overHttp),
    hookproof: atOnce(() => ours.send(payload)),
    "bare undici Pool": atOnce(overUndici),
    "hookproof over undici": atOnce(() => oursOverUndici.send(payload)),
    "fetch + svix": atOnce(withSvix),
    "got + standardwebhooks": atOnce(withGot),
    "axios + stripe": atOnce(withAxios),
  },
  { rounds: 11, roundMs: 400, perCall: IN_FLIGHT * EACH },
);
report({
  question: "Sign and send 1 KB, 50 at once, over loopback",
  results,
  ratios: [
    { of: "hookproof", to: "bare node:http", goal: 0.8 },
    { of: "hookproof over undici", to: "bare undici Pool", goal: 0.8 },
    { of: "hookproof", to: "fetch + svix", goal: 5 },
    { of: "hookproof", to: "got + standardwebhooks", goal: 5 },
    { of: "hookproof", to: "axios + stripe", goal: 5 },
  ],
});
process.exit();
