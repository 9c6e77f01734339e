import { hmacSigner } from "hookproof";
import { openSqlite } from "hookproof/node";
import { createOutbox, type Outbox } from "hookproof/outbox";
import { sqliteStore } from "hookproof/outbox/sqlite";

/** Ids of the events that the stories of the outbox tell of. */
export const IDS = [0, 1, 2, 3].map((n) => `${n}b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10`);

/** A listener as the program that enqueues has it. */
export const LISTENER = {
  url: "http://127.0.0.1:4400/api/v1/webhooks/incoming/lst_local",
  signer: hmacSigner({ secret: "QSBrZXkgZm9yIEhvb2twcm9vZiB0ZXN0cyBvbmx5ISE" }),
};

/** The attempt that an event died of. */
export const ATTEMPT = {
  number: 1,
  startedAt: Date.parse("2026-01-01T00:00:00Z"),
  durationMs: 7,
  status: 400,
  code: "REQUEST_REFUSED",
  answer: '{"code":"BODY_NOT_JSON"}',
} as const;

/** The program whose outbox it is. */
export function otherProgram(file: string) {
  const store = sqliteStore({ open: () => openSqlite(file) });
  const outbox: Outbox = createOutbox({ store, listeners: { offboarding: LISTENER, archive: LISTENER } });
  return { store, outbox };
}

/** Makes the event that is due a dead letter. */
export async function failOne({ store }: ReturnType<typeof otherProgram>, blocksKey = false): Promise<void> {
  const listeners = new Map([["offboarding", { most: 1, windowMs: 604_800_000 }]]);
  const [claimed] = await store.claim({ limit: 1, leaseMs: 60_000, listeners });
  if (!claimed) throw new Error("nothing was claimed");
  await store.fail(claimed.lease, {
    reason: "refused",
    code: "REQUEST_REFUSED",
    attempt: ATTEMPT,
    blocksKey,
  });
}
