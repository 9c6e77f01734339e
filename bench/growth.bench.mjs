// How does cost grow with the body, with the number of listeners, with the tenants of a backlog (a million of them with
// `--long`), and with the keys in a set?
import {
  createEvent,
  createSender,
  hmacSigner,
  jwtSigner,
  signHmac,
  signRequest,
  verifyHmac,
} from "hookproof";
import { createKeySet, generateKey, localKeys } from "hookproof/jwks";
import { createReceiver } from "hookproof/receiver";
import { reportListeners } from "./outbox-listeners.mjs";
import { reportTenants } from "./outbox-tenants.mjs";
import { interleaved, reportGrowth } from "./support.mjs";

const secret = "QSBrZXkgZm9yIEhvb2twcm9vZiB0ZXN0cyBvbmx5ISE";
const baseUrl = "https://tenant.example.com";
const urlOf = (id) => `${baseUrl}/api/v1/webhooks/incoming/${id}`;
const payloadOf = (bytes) => ({ text: "x".repeat(bytes - 11) });

/** The points of a plot: the median microseconds of each case at each x, all of them interleaved. */
async function points(xs, caseAt) {
  const works = new Map();
  for (const x of xs) {
    for (const [name, work] of Object.entries(await caseAt(x))) works.set(`${name}: ${x}`, { name, x, work });
  }
  const cases = [...works].map(([key, { work }]) => [key, work]);
  const results = await interleaved(Object.fromEntries(cases), { rounds: 11, roundMs: 50 });
  const series = {};
  for (const [key, { name, x }] of works) {
    series[name] ??= [];
    series[name].push([x, 1e6 / results[key].perSecond]);
  }
  return series;
}

/** A signed request, and a receiver that takes it. */
async function received(signer, auth, payload) {
  const url = urlOf("lst_bench");
  const { headers, body } = await signRequest({ url, signer, event: createEvent(payload) });
  const receiver = createReceiver({ listener: { id: "lst_bench", baseUrl, auth } });
  const request = { method: "POST", url, headers, body };
  const verdict = await receiver.verify(request);
  if (!verdict.ok) throw new Error(`the bench's own request is refused: ${verdict.code}`);
  return () => receiver.verify(request);
}

const sizes = [100, 256, 1024, 4096, 16_384, 65_536];
const es256 = await generateKey({ alg: "ES256" });
const keys = localKeys(await createKeySet([es256]).publicJwks());
reportGrowth({
  plot: "body-size",
  question: "Signing and verifying by the size of the body",
  x: { label: "bytes of body", log: true },
  y: { label: "µs", log: true },
  series: await points(sizes, async (size) => {
    const body = Buffer.from(JSON.stringify(payloadOf(size)));
    const input = { secret, timestamp: "1767225600", eventId: "0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10", body };
    const signature = signHmac(input);
    const hmac = hmacSigner({ secret });
    return {
      signHmac: () => signHmac(input),
      verifyHmac: () => verifyHmac({ ...input, signature }),
      "receiver.verify, HMAC": await received(hmac, { method: "hmac", secret }, payloadOf(size)),
      "receiver.verify, ES256": await received(
        jwtSigner({ key: es256.privateJwk, kid: es256.kid, alg: "ES256" }),
        { method: "jwt", keys },
        payloadOf(size),
      ),
    };
  }),
});

/** Answers without a network: what is left is the library. */
async function answerAtOnce() {
  return { status: 200, headers: [], body: new Uint8Array(), truncated: false };
}

const signer = hmacSigner({ secret });
reportGrowth({
  plot: "listeners",
  question: "Sending an event of 1 KB by the number of listeners, no network",
  x: { label: "listeners", log: true },
  y: { label: "µs an event", log: true },
  series: await points([1, 10, 100, 1_000, 10_000], async (count) => {
    let turn = 0;
    const senders = Array.from({ length: count }, (_, n) =>
      createSender({ url: urlOf(`l${n}`), signer, transport: answerAtOnce }),
    );
    return { "sender.send, a sender each": () => senders[turn++ % count].send(payloadOf(1024)) };
  }),
});

await reportListeners();
await reportTenants();

reportGrowth({
  plot: "key-set",
  question: "Verifying an ES256 token by the number of keys in the set",
  x: { label: "keys in the set" },
  y: { label: "µs", log: true },
  series: await points([1, 5, 10, 20, 35, 50], async (count) => {
    const records = await Promise.all(Array.from({ length: count }, () => generateKey({ alg: "ES256" })));
    const last = records.at(-1);
    const set = localKeys(await createKeySet(records).publicJwks());
    const signed = jwtSigner({ key: last.privateJwk, kid: last.kid, alg: "ES256" });
    return {
      "finding the last key": () => set.resolve(last.kid, "ES256"),
      "receiver.verify": await received(signed, { method: "jwt", keys: set }, payloadOf(1024)),
    };
  }),
});
