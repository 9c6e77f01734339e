import { createSender, jwtSigner } from "hookproof";
import { createKeySet, remoteKeys } from "hookproof/jwks";
import { type KeyStore, openKeyStore, publishKeySet } from "hookproof/node";
import { fixedClock } from "hookproof/testing";
import { startListeners } from "hookproof-service";
import { expect, it, onTestFinished } from "vitest";
import { seededRandom } from "../kit/seed.mjs";
import { temporaryFolder } from "../kit/temporary-folder.js";
import { startStaticHost, type UploadFault } from "./static-host.js";

const MINUTE = 60_000;
const MINUTES = process.env.HOOKPROOF_LONG ? 960 : 160;
const ORDERS = Array.from({ length: process.env.HOOKPROOF_LONG ? 20 : 3 }, (_, index) => index + 1);
const FAULTS: readonly UploadFault[] = ["none", "none", "refused", "answer lost", "half", "late"];

class Crash extends Error {}

/** A store whose publisher is killed before or after a change of the file; the change itself is whole or absent. */
function crashing(store: KeyStore, isDue: () => boolean): KeyStore {
  const { publication } = store;
  const around = async <Value>(work: () => Promise<Value>): Promise<Value> => {
    if (isDue()) throw new Crash();
    const value = await work();
    if (isDue()) throw new Crash();
    return value;
  };
  return {
    load: () => store.load(),
    publication: {
      begin: (...args: Parameters<typeof publication.begin>) => around(() => publication.begin(...args)),
      confirm: (...args: Parameters<typeof publication.confirm>) =>
        around(() => publication.confirm(...args)),
      takeBack: () => around(() => publication.takeBack()),
      end: () => publication.end(),
    },
  } as KeyStore;
}

/**
 * Publisher, sender, listener, host and store share a clock that goes on by a minute at a time: the publisher looks
 * each minute, rotations are asked for as soon as the last one is over, and a listener that keeps the set for 5
 * minutes is sent to all the time.
 */
it.each(ORDERS)(
  "no token is refused while uploads fail and the publisher is killed, order %i",
  {
    timeout: 600_000,
  },
  async (order) => {
    const random = seededRandom(`publish ${order}`);
    const chance = (odds: number) => random() < odds;
    const clock = fixedClock("2026-01-01T00:00:00Z");
    const store = openKeyStore(temporaryFolder("publish"), { clock });
    const host = await startStaticHost(300);
    const seen = new Map<string, number>();
    const count = (what: string) => seen.set(what, (seen.get(what) ?? 0) + 1);
    let isCalm = true;
    let isOutage = false;
    const publish = () =>
      publishKeySet(
        crashing(store, () => !isCalm && chance(0.03)),
        {
          url: host.url,
          upload: async (document) => {
            const drawn = FAULTS[Math.floor(random() * FAULTS.length)] as UploadFault;
            const fault = isCalm ? "none" : isOutage ? (chance(0.5) ? "refused" : "late") : drawn;
            count(`upload: ${fault}`);
            host.upload(document, fault);
          },
          settleForMs: 0,
          allowInsecureLoopback: true,
        },
      ).catch((error: unknown) => {
        if (!(error instanceof Crash)) throw error;
        count("killed");
        return undefined;
      });

    await store.generate({ alg: "ES256" });
    expect(await publish()).toMatchObject({ ok: true, uploaded: true });
    isCalm = false;
    host.isDown = () => chance(0.1);

    const statuses = new Map<number, number>();
    const listeners = await startListeners({
      listeners: (baseUrl) => [
        {
          listener: {
            id: "lst_1",
            baseUrl,
            auth: { method: "jwt", keys: remoteKeys(host.url, { allowInsecureLoopback: true, clock }) },
          },
          clock,
        },
      ],
      onHandled: ({ status }) => statuses.set(status, (statuses.get(status) ?? 0) + 1),
    });
    onTestFinished(() => listeners.stop());
    const keySet = createKeySet(store);
    const signers = new Set<string>();
    const sender = createSender({
      url: `${listeners.url}/api/v1/webhooks/incoming/lst_1`,
      signer: jwtSigner(async () => {
        const key = await keySet.signingKey("ES256");
        signers.add(key.kid);
        return key;
      }),
      clock,
      retry: { maxAttempts: 1 },
    });
    host.isDown = () => false;
    await sender.send({ first: true }); // a listener that has never fetched the set has nothing to fall back on
    host.isDown = () => chance(0.1);

    const before: string[] = [];
    let outageEnds = 0;
    for (let minute = 0; minute < MINUTES; minute++) {
      const waiting = (await store.list()).some(({ state }) => state === "next");
      const changing = waiting || (await store.list()).some(({ state }) => state === "retired");
      if (!changing) await store.rotate("ES256");
      // Somebody brings back an older file while the new key does not sign yet.
      const older = before.at(-1);
      if (waiting && older !== undefined && chance(0.05)) {
        host.document = older;
        count("older file");
      }
      // For half an hour nothing reaches the host, which is longer than a key waits before it signs.
      if (minute > outageEnds + 30 && host.document.endsWith("}\n") && chance(0.05)) outageEnds = minute + 30;
      isOutage = minute < outageEnds;
      if (isOutage) count("minutes of outage");
      else if (chance(0.3)) host.settle();
      let done = await publish();
      while (!done) done = await publish();
      if (done.takenBack.length > 0) count("taken back");
      if (done.planned.length > 0) count("planned");
      if (done.ok && !waiting) before.push(host.document);
      await Promise.all([sender.send({ minute }), sender.send({ minute, again: true })]);
      clock.advance(MINUTE);
    }

    expect(Object.fromEntries(statuses)).toEqual({ 200: 2 * MINUTES + 1 });
    expect(signers.size).toBeGreaterThan(1);
    for (const what of [
      "killed",
      "planned",
      "upload: refused",
      "upload: half",
      "upload: late",
      "minutes of outage",
    ])
      expect(seen.get(what), what).toBeGreaterThan(0);
  },
);
