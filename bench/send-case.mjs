// One way to sign and send, in a process of its own: node send-case.mjs <case> <port>. Peers are used as their
// documentation shows.
import { randomUUID } from "node:crypto";
import { createSender, hmacSigner, newEventId } from "hookproof";
import { boundedPoster, checkJson, idMemory } from "./bounded-by-hand.mjs";
import { serveRounds } from "./serve-rounds.mjs";
import { poster, signedHeaders } from "./signed-by-hand.mjs";

const IN_FLIGHT = 50;
const EACH = 50;

const [name, port] = process.argv.slice(2);
const origin = `http://127.0.0.1:${port}`;
const path = "/api/v1/webhooks/incoming/lst_bench";
const url = origin + path;

const payload = { type: "user.offboarded", userId: "u_123", note: "x".repeat(967) };
const body = Buffer.from(JSON.stringify(payload));
const secret = Buffer.alloc(32, 7);
const headers = { "Content-Type": "application/json" };
const signer = hmacSigner({ secret: secret.toString("base64url") });

const key = secret.toString("base64url");

function signedByHand() {
  const bytes = Buffer.from(JSON.stringify(payload));
  return { body: bytes, headers: signedHeaders(key, randomUUID(), bytes) };
}

const cases = {
  "bare node:http": () => {
    const { post } = poster(url);
    return () => post(body);
  },

  // What remains when everything but the serialising and the signing is left out: no checks, no time limits.
  "node:http, signed by hand": () => {
    const { post } = poster(url);
    return () => {
      const signed = signedByHand();
      return post(signed.body, signed.headers);
    };
  },

  // The least that keeps the promises of a sender that gets its answer at the first attempt.
  "node:http, by hand to the same promises": () => {
    const post = boundedPoster(url);
    const remember = idMemory();
    return async () => {
      const bytes = Buffer.from(JSON.stringify(payload));
      checkJson(payload);
      const id = randomUUID();
      remember(id, bytes);
      const { status } = await post(bytes, signedHeaders(key, id, bytes));
      if (status !== 200) throw new Error(`answered ${status}`);
    };
  },

  hookproof: () => {
    const sender = createSender({ url, signer });
    return () => sender.send(payload);
  },

  "bare undici Pool": async () => {
    const { Pool } = await import("undici");
    const pool = new Pool(origin, { connections: IN_FLIGHT });
    return async () => {
      const response = await pool.request({ path, method: "POST", headers, body });
      await response.body.dump();
    };
  },

  "undici Pool, signed by hand": async () => {
    const { Pool } = await import("undici");
    const pool = new Pool(origin, { connections: IN_FLIGHT });
    return async () => {
      const response = await pool.request({ path, method: "POST", ...signedByHand() });
      await response.body.dump();
    };
  },

  "hookproof over undici": async () => {
    const { Pool } = await import("undici");
    const { undiciTransport } = await import("hookproof/node");
    const transport = undiciTransport(new Pool(origin, { connections: IN_FLIGHT }));
    const sender = createSender({ url, signer, transport });
    return () => sender.send(payload);
  },

  "fetch + svix": async () => {
    const { Webhook } = await import("svix");
    const webhook = new Webhook(`whsec_${secret.toString("base64")}`);
    return async () => {
      const [id, now, text] = [newEventId(), new Date(), JSON.stringify(payload)];
      const response = await fetch(url, {
        method: "POST",
        headers: {
          ...headers,
          "svix-id": id,
          "svix-timestamp": String(Math.floor(now.getTime() / 1000)),
          "svix-signature": webhook.sign(id, now, text),
        },
        body: text,
      });
      await response.text();
    };
  },

  "got + standardwebhooks": async () => {
    const { default: got } = await import("got");
    const { Webhook } = await import("standardwebhooks");
    const webhook = new Webhook(secret.toString("base64"));
    return () => {
      const [id, now, text] = [newEventId(), new Date(), JSON.stringify(payload)];
      return got.post(url, {
        headers: {
          ...headers,
          "webhook-id": id,
          "webhook-timestamp": String(Math.floor(now.getTime() / 1000)),
          "webhook-signature": webhook.sign(id, now, text),
        },
        body: text,
      });
    };
  },

  "axios + stripe": async () => {
    const { default: axios } = await import("axios");
    const { default: Stripe } = await import("stripe");
    const { webhooks } = new Stripe("sk_test_none");
    return () => {
      const text = JSON.stringify(payload);
      const signature = webhooks.generateTestHeaderString({
        payload: text,
        secret: secret.toString("base64"),
      });
      return axios.post(url, text, { headers: { ...headers, "Stripe-Signature": signature } });
    };
  },
};

const send = await cases[name]();
/** Many in flight, each worker one after the other. */
const batch = () =>
  Promise.all(
    Array.from({ length: IN_FLIGHT }, async () => {
      for (let i = 0; i < EACH; i++) await send();
    }),
  );
serveRounds(batch, IN_FLIGHT * EACH);
