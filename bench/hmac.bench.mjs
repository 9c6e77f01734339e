// How close is signing and verifying to the bare node:crypto calls that it cannot do without, and to the peers?
import { createHmac, timingSafeEqual } from "node:crypto";
import * as octokit from "@octokit/webhooks-methods";
import { hmacSigner, signHmac, verifyHmac } from "hookproof";
import * as standard from "standardwebhooks";
import Stripe from "stripe";
import * as svix from "svix";
import { interleaved, quick, report } from "./support.mjs";

const key = Buffer.from(Array.from({ length: 32 }, (_, byte) => byte));
const secret = key.toString("base64url");
const eventId = "0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10";
const now = new Date();
const timestamp = String(Math.floor(now / 1000));
const url = "https://tenant.example.com/api/v1/webhooks/incoming/lst_bench";
const signer = hmacSigner({ secret });

const peers = {
  standardwebhooks: new standard.Webhook(key.toString("base64")),
  svix: new svix.Webhook(`whsec_${key.toString("base64")}`),
};
const { webhooks: stripe } = new Stripe("sk_test_none");

for (const size of quick ? [1024] : [100, 1024, 65_536]) {
  const body = Buffer.from(JSON.stringify({ text: "x".repeat(size - 11) }));
  const text = body.toString();
  await measure(size, "sign", {
    "bare createHmac": () => bare(body),
    signHmac: () => signHmac({ secret, timestamp, eventId, body }),
    hmacSigner: () => signer.sign({ url, timestamp, eventId, body }),
    standardwebhooks: () => peers.standardwebhooks.sign(eventId, now, text),
    svix: () => peers.svix.sign(eventId, now, text),
    stripe: () => stripe.generateTestHeaderString({ payload: text, secret }),
    "@octokit/webhooks-methods": () => octokit.sign(secret, text),
  });

  const signature = bare(body);
  const headers = {
    svix: headersOf("svix", peers.svix.sign(eventId, now, text)),
    standardwebhooks: headersOf("webhook", peers.standardwebhooks.sign(eventId, now, text)),
    stripe: stripe.generateTestHeaderString({ payload: text, secret }),
    octokit: await octokit.sign(secret, text),
  };
  await measure(size, "verify", {
    "bare createHmac": () => timingSafeEqual(Buffer.from(bare(body)), Buffer.from(signature)),
    // What parsing leaves of a lead, however little verifying costs.
    "bare createHmac and JSON.parse": () =>
      timingSafeEqual(Buffer.from(bare(body)), Buffer.from(signature)) && JSON.parse(text),
    verifyHmac: () => verifyHmac({ secret, timestamp, eventId, body, signature }),
    // These three hand out the parsed payload, so parsing is theirs and ours.
    "verifyHmac and JSON.parse": () =>
      verifyHmac({ secret, timestamp, eventId, body, signature }) && JSON.parse(text),
    standardwebhooks: () => peers.standardwebhooks.verify(text, headers.standardwebhooks),
    svix: () => peers.svix.verify(text, headers.svix),
    stripe: () => stripe.constructEvent(text, headers.stripe, secret),
    "@octokit/webhooks-methods": () => octokit.verify(secret, text, headers.octokit),
  });
}

function bare(body) {
  return createHmac("sha256", secret).update(`${timestamp}.${eventId}.`).update(body).digest("base64url");
}

function headersOf(scheme, signature) {
  return {
    [`${scheme}-id`]: eventId,
    [`${scheme}-timestamp`]: timestamp,
    [`${scheme}-signature`]: signature,
  };
}

async function measure(size, what, cases) {
  const ours = what === "sign" ? ["signHmac", "hmacSigner"] : ["verifyHmac"];
  const against = what === "sign" ? "signHmac" : "verifyHmac and JSON.parse";
  // What the goals say of 1 KB; at other sizes the hash itself weighs less or more.
  const goal = size === 1024 ? { goal: 5 } : {};
  const limits = what === "sign" ? [] : ["standardwebhooks", "svix"];
  report({
    question: `HMAC ${what}, ${size.toLocaleString("en")} bytes`,
    results: await interleaved(cases, { rounds: 25, roundMs: 50, byProcessor: quick }),
    ratios: [
      ...ours.map((of) => ({ of, to: "bare createHmac", goal: 0.9 })),
      { of: against, to: "standardwebhooks", ...goal },
      { of: against, to: "svix", ...goal },
      ...limits.map((to) => ({ of: "bare createHmac and JSON.parse", to })),
      { of: against, to: "stripe", goal: 1 },
      { of: ours[0], to: "@octokit/webhooks-methods", goal: 1 },
    ],
  });
}
