import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createEvent, createSender, jwtSigner, type SignedRequest, signRequest } from "hookproof";
import { createKeySet, generateKey, remoteKeys } from "hookproof/jwks";
import { openKeyStore } from "hookproof/node";
import { fixedClock } from "hookproof/testing";
import { startKeySetHost, startListeners } from "hookproof-service";
import { expect, it } from "vitest";

const MINUTE = 60_000;
const ALGORITHMS = ["RS256", "ES256", "EdDSA"] as const;
const ROTATIONS = 3;
/** Events to each listener at every step of the clock. */
const EVENTS_A_STEP = 4;
const STEP_MS = MINUTE;
/** Later than any step of the clock, and before the token ends after 5 minutes. */
const LATE_MS = 4 * MINUTE;

function post({ url, headers, body }: SignedRequest): Promise<Response> {
  return fetch(url, { method: "POST", headers, body: body.slice() });
}

/**
 * Sender, listener, host and store share one clock, which is moved by a minute at a time while events are sent:
 * a rotation of half an hour passes in a second, and 200 events and more are under way in each second.
 */
it("three rotations in three algorithms under load: not one 401 but for a stranger's", async () => {
  const dir = mkdtempSync(join(tmpdir(), "hookproof-load-"));
  const clock = fixedClock("2026-01-01T00:00:00Z");
  const store = openKeyStore(dir, { clock });
  for (const alg of ALGORITHMS) await store.generate({ alg });
  const keySet = createKeySet(store);
  let fetches = 0;
  const host = await startKeySetHost({ keySet, onAsked: () => fetches++ });
  const statuses = new Map<number, number>();
  const listeners = await startListeners({
    listeners: (baseUrl) =>
      ALGORITHMS.map((alg) => ({
        listener: {
          id: alg,
          baseUrl,
          auth: { method: "jwt", keys: remoteKeys(host.keySetUrl, { allowInsecureLoopback: true, clock }) },
        },
        clock,
      })),
    onHandled: ({ status }) => statuses.set(status, (statuses.get(status) ?? 0) + 1),
  });
  const signers = new Set<string>();
  const senders = ALGORITHMS.map((alg) =>
    createSender({
      url: `${listeners.url}/api/v1/webhooks/incoming/${alg}`,
      signer: jwtSigner(async () => {
        const key = await keySet.signingKey(alg);
        signers.add(key.kid);
        return key;
      }),
      clock,
      retry: { maxAttempts: 1 },
    }),
  );

  const urlOf = (alg: string) => `${listeners.url}/api/v1/webhooks/incoming/${alg}`;
  /** A stranger's kid makes each listener fetch, and keeps it from fetching again for the next 30 s. */
  const strangers = async () => {
    const { privateJwk } = await generateKey({ alg: "ES256" });
    for (const alg of ALGORITHMS) {
      const signer = jwtSigner({ key: privateJwk, kid: "a stranger's", alg: "ES256" });
      expect(
        (
          await post(
            await signRequest({
              url: urlOf(alg),
              signer,
              event: createEvent({}),
              timestamp: clock.now() / 1000,
            }),
          )
        ).status,
      ).toBe(401);
    }
  };
  /** Requests that are signed now and take minutes to arrive. */
  const underWay: { at: number; request: SignedRequest }[] = [];
  const arriveLate = async () => {
    while (underWay[0] && underWay[0].at <= clock.now()) {
      const { request } = underWay.shift() as (typeof underWay)[number];
      expect((await post(request)).status).toBe(200);
    }
    for (const alg of ALGORITHMS) {
      const signer = jwtSigner(() => keySet.signingKey(alg));
      const request = await signRequest({
        url: urlOf(alg),
        signer,
        event: createEvent({}),
        timestamp: clock.now() / 1000,
      });
      underWay.push({ at: clock.now() + LATE_MS, request });
    }
  };
  const sendSome = () =>
    Promise.all(
      senders.flatMap((sender) => Array.from({ length: EVENTS_A_STEP }, (_, n) => sender.send({ n }))),
    );

  const started = performance.now();
  for (let rotation = 0; rotation < ROTATIONS; rotation++) {
    for (let minute = 0; minute < 35; minute++) {
      await strangers();
      if (minute === 0) for (const alg of ALGORITHMS) await store.rotate(alg);
      await sendSome();
      await arriveLate();
      clock.advance(STEP_MS);
    }
  }
  const steps = ROTATIONS * 35 * ALGORITHMS.length;
  const sent = steps * (EVENTS_A_STEP + 2) - underWay.length;
  const perSecond = sent / ((performance.now() - started) / 1000);

  expect(Object.fromEntries(statuses)).toEqual({ 200: sent - steps, 401: steps });
  expect(signers.size).toBe((ROTATIONS + 1) * ALGORITHMS.length);
  expect((await store.load()).map(({ state }) => state)).toEqual(["active", "active", "active"]);
  expect(fetches).toBeGreaterThan(ROTATIONS * ALGORITHMS.length);
  console.info(`${sent} events, ${Math.round(perSecond)} a second, ${fetches} fetches of the key set`);

  await Promise.all([listeners.stop(), host.stop()]);
  rmSync(dir, { recursive: true, force: true });
});
