import { createSender, hmacSigner } from "hookproof";
import { expect, it, vi } from "vitest";
import { SECRET } from "../kit/receiver-server.js";

const sender = createSender({
  url: "http://127.0.0.1:9/api/v1/webhooks/incoming/lst_1",
  signer: hmacSigner({ secret: SECRET }),
  transport: () => new Promise(() => {}),
  attemptTimeoutMs: 300,
  retry: { maxAttempts: 1 },
});

it("a transport that ignores its time limit ends two seconds after it", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    const sending = sender.trySend({ n: 1 });
    await vi.advanceTimersByTimeAsync(2_300);
    expect(await sending).toMatchObject({ ok: false, attempts: [{ code: "TIMED_OUT" }] });
  } finally {
    vi.useRealTimers();
  }
});

it("and one that ignores the signal ends with it", async () => {
  const stop = new AbortController();
  const sending = sender.trySend({ n: 1 }, { signal: stop.signal });
  setImmediate(() => stop.abort());
  expect(await sending).toMatchObject({ ok: false, code: "ABORTED" });
});
