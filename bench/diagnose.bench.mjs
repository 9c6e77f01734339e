// How long does it take to find out that nothing explains a signature, which is the longest a diagnosis takes?
import { generateKeyPairSync, randomBytes, randomUUID, sign } from "node:crypto";
import { diagnose } from "hookproof/diagnose";
import { reportFigures, summary } from "./support.mjs";

const secret = "QSBrZXkgZm9yIEhvb2twcm9vZiB0ZXN0cyBvbmx5ISE";
const url = "https://tenant.example.com/api/v1/webhooks/incoming/lst_1";
const clock = { now: () => 1_767_225_600_000 };

/** A body on which every mistake makes a difference: its names, numbers, dates, nulls and characters change in print. */
function bodyOf(bytes) {
  const items = [];
  const each = 170;
  while ((items.length + 1) * each < bytes) {
    const n = items.length;
    const rest = [1, 2.5, 1e25, true, null, {}];
    const text = { displayName: `Zoë ${n} `, user_id: n, url: "https://a.example/?b=<c>&d='e'", note: "" };
    items.push({ ...text, at: "2026-01-01T00:00:00Z", rest });
  }
  const text = JSON.stringify({ zone: "", items, none: null });
  const missing = bytes - Buffer.byteLength(text);
  return Buffer.from(text.replace('"zone":""', `"zone":"${"x".repeat(Math.max(0, missing))}"`));
}

const eventId = "0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10";
const [listed, signing] = [0, 1].map(() => generateKeyPairSync("ec", { namedCurve: "P-256" }));
const jwks = {
  keys: [{ ...listed.publicKey.export({ format: "jwk" }), kid: "k1", alg: "ES256", use: "sig" }],
};
const ed25519 = generateKeyPairSync("ed25519").publicKey.export({ format: "jwk" });

/** The members of a token that another key than the listed one has signed, with the hash of another body. */
function tokenBy(key) {
  const part = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const claims = {
    sub: "https://tenant.example.com",
    aud: url,
    exp: 1_767_225_900,
    jti: eventId,
    htm: "POST",
    htb_s256: randomBytes(32).toString("base64url"),
  };
  const input = `${part({ alg: "ES256", kid: "k1", typ: "JWT" })}.${part(claims)}`;
  const made = sign("sha256", Buffer.from(input), { key, dsaEncoding: "ieee-p1363" });
  return `${input}.${made.toString("base64url")}`;
}

/** What is asked, each with a proof by chance that nothing explains. */
const inputs = {
  signature: (body) => ({
    request: {
      url,
      headers: headersWith({ "Webhook-Signature": randomBytes(32).toString("base64url") }),
      body,
    },
    secret,
    clock,
  }),
  token: (body) => ({
    request: { url, headers: headersWith({ Authorization: `Bearer ${tokenBy(signing.privateKey)}` }), body },
    jwks,
    clock,
  }),
  v1a: (body) => ({
    scheme: "standard-webhooks",
    request: {
      headers: {
        "Content-Type": "application/json",
        "webhook-id": randomUUID(),
        "webhook-timestamp": "1767225600",
        "webhook-signature": `v1a,${randomBytes(64).toString("base64")}`,
      },
      body,
    },
    secrets: [`whpk_${Buffer.from(ed25519.x, "base64url").toString("base64")}`],
    clock,
  }),
};

function headersWith(proof) {
  return {
    "Content-Type": "application/json",
    "Webhook-Timestamp": "1767225600",
    "Webhook-Event-Id": eventId,
    ...proof,
  };
}

const UNEXPLAINED = /unexplained|kid-unknown|kid-of-other-key/;

async function millisecondsOf(input) {
  // The work is the same on every run, so what counts is the processor's time, whatever else the machine does.
  const before = process.cpuUsage();
  const { mistakes } = await diagnose(input);
  const { user, system } = process.cpuUsage(before);
  if (!mistakes.some(({ id }) => UNEXPLAINED.test(id)))
    throw new Error("something explains a proof by chance");
  return (user + system) / 1000;
}

const goals = new Map([
  [1_024, 10],
  [65_536, 100],
]);
const sizes = [100, 1_024, 8_192, 65_536];
// A signature by its size alone, as it was measured from the first day; the others with what they are of.
const cases = Object.entries(inputs).flatMap(([kind, inputOf]) =>
  sizes.map((size) => {
    const name = `${size.toLocaleString("en")} bytes`;
    return { name: kind === "signature" ? name : `${kind}, ${name}`, size, inputOf, times: [] };
  }),
);
for (let round = -2; round < 25; round++) {
  for (const { size, inputOf, times } of cases) {
    const took = await millisecondsOf(inputOf(bodyOf(size)));
    if (round >= 0) times.push(took);
  }
}
const figures = cases.map(({ name, size, times }) => {
  const { perSecond: value, low, high } = summary(times);
  return [name, { value, low, high, atMost: goals.get(size) }];
});
reportFigures({
  question: "Diagnosing a proof that nothing explains, time of the processor",
  unit: "ms",
  figures: Object.fromEntries(figures),
});
