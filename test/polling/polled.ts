// A transmitter's outbox with a recipient that polls, for the tests of both sides.

import { createKeySet, generateKey, type KeyRecord, localKeys } from "hookproof/jwks";
import { createOutbox, memoryStore } from "hookproof/outbox";
import type { OutboxStore } from "hookproof/outbox/store";
import { CAEP, securityEvent, securityEventSigner, securityEventVerifier } from "hookproof/set";
import { securityEventPollHandler } from "hookproof/set/polling";
import { fixedClock } from "hookproof/testing";

export const ISSUER = "https://idp.example.com/";
export const AUDIENCE = "https://rp.example.com/";
export const POLL_URL = "https://idp.example.com/ssf/poll";
export const TOKEN = "Bearer abc";

const KEY: KeyRecord = await generateKey({ alg: "ES256", kid: "k1" });
const KEYS = createKeySet([KEY]);

export const signer = securityEventSigner({
  issuer: ISSUER,
  audience: AUDIENCE,
  key: () => KEYS.signingKey("ES256"),
});
export const verifier = securityEventVerifier({
  issuer: ISSUER,
  audience: AUDIENCE,
  keys: localKeys({ keys: [KEY.publicJwk] }),
});

type Handler = ReturnType<typeof securityEventPollHandler>;
type HandlerOptions = Partial<Parameters<typeof securityEventPollHandler>[0]>;

/** An outbox over a store, with one listener that polls. */
export function polledOutbox({
  store,
  clock = fixedClock("2026-01-01T00:00:00Z"),
}: {
  store?: OutboxStore;
  clock?: ReturnType<typeof fixedClock>;
} = {}) {
  const own = store ?? memoryStore({ clock });
  const listeners = { rp: { url: AUDIENCE, signer, polled: true } };
  const outbox = createOutbox({ store: own, listeners, clock, quiet: true });
  return {
    clock,
    store: own,
    outbox,
    /** Enqueues so many events; resolves to their ids. */
    async put(count: number): Promise<string[]> {
      const ids: string[] = [];
      for (let n = 0; n < count; n++) {
        const payload = securityEvent(CAEP.sessionRevoked, { event_timestamp: n });
        ids.push((await outbox.enqueue({ listener: "rp", payload })).eventId);
      }
      return ids;
    },
    /** An endpoint over the same store, as another process has one. */
    handler: (options: HandlerOptions = {}): Handler =>
      securityEventPollHandler({
        store: own,
        listener: "rp",
        signer,
        authorize: (request) => request.headers.get("Authorization") === TOKEN,
        clock,
        ...options,
      }),
    state: async (id: string) => (await outbox.find(id))[0]?.state,
  };
}

export function pollOf(body: unknown, init: RequestInit = {}): Request {
  const headers = { Authorization: TOKEN, "Content-Type": "application/json" };
  return new Request(POLL_URL, {
    method: "POST",
    headers,
    body: typeof body === "string" ? body : JSON.stringify(body),
    ...init,
  });
}

export async function polled(handler: Handler, body: unknown) {
  const response = await handler(pollOf(body));
  if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
  return (await response.json()) as { sets: Record<string, string>; moreAvailable?: boolean };
}
