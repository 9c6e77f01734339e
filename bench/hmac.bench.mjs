// How close is signing to the bare node:crypto call that it cannot do without?
import { createHmac, timingSafeEqual } from "node:crypto";
import { hmacSigner, signHmac, verifyHmac } from "hookproof";
import { interleaved, report } from "./support.mjs";

const secret = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";
const eventId = "0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10";
const timestamp = "1767225600";
const url = "https://tenant.example.com/api/v1/webhooks/incoming/lst_bench";

for (const size of [100, 1024, 65_536]) {
  const body = Buffer.from(JSON.stringify({ text: "x".repeat(size - 11) }));
  const signature = signHmac({ secret, timestamp, eventId, body });
  const signer = hmacSigner({ secret });
  const bare = () =>
    createHmac("sha256", secret).update(`${timestamp}.${eventId}.`).update(body).digest("base64url");
  const results = await interleaved({
    "bare createHmac": bare,
    signHmac: () => signHmac({ secret, timestamp, eventId, body }),
    hmacSigner: () => signer.sign({ url, timestamp, eventId, body }),
    "bare createHmac + timingSafeEqual": () => timingSafeEqual(Buffer.from(bare()), Buffer.from(signature)),
    verifyHmac: () => verifyHmac({ secret, timestamp, eventId, body, signature }),
  });
  report({
    question: `HMAC over ${size} bytes`,
    results,
    ratios: [
      { of: "signHmac", to: "bare createHmac", goal: 0.9 },
      { of: "hmacSigner", to: "bare createHmac", goal: 0.9 },
      { of: "verifyHmac", to: "bare createHmac + timingSafeEqual", goal: 0.9 },
    ],
  });
}
