import { hmacSigner } from "hookproof";

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
