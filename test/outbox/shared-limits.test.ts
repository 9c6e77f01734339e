// The limits of a listener reach the store with every claim, where they hold over all workers.
import { hmacSigner } from "hookproof";
import { createOutbox, memoryStore, type OutboxListenerOptions, type Rate } from "hookproof/outbox";
import type { ClaimShare } from "hookproof/outbox/store";
import { createFakeReceiver } from "hookproof/testing";
import { expect, it, onTestFinished } from "vitest";
import { SECRET } from "../kit/receiver-server.js";

/** An outbox whose one listener has these options, and the shares of its claims. */
function outboxWith(options: Partial<OutboxListenerOptions>, isLookedUp = false) {
  const shares: (ClaimShare | undefined)[] = [];
  const store = memoryStore();
  const claim = store.claim.bind(store);
  store.claim = (request) => {
    shares.push(request.listeners.get("a"));
    return claim(request);
  };
  const current = { ...options };
  const listener = (): OutboxListenerOptions => ({
    url: "https://tenant.example.com/api/v1/webhooks/incoming/lst_1",
    signer: hmacSigner({ secret: SECRET }),
    transport: createFakeReceiver().transport,
    ...current,
  });
  const outbox = createOutbox<never>({
    store,
    listeners: isLookedUp ? () => listener() : { a: listener() },
    quiet: true,
  });
  onTestFinished(() => outbox.stop({ timeoutMs: 0 }));
  const deliver = async () => {
    shares.length = 0;
    await outbox.enqueue({ listener: "a", payload: {} });
    await outbox.drain();
    return shares.map((share) => share && { concurrency: share.concurrency, rate: share.rate });
  };
  return { outbox, current, deliver };
}

it.each<[what: string, rate: Rate | undefined]>([
  ["rate", { perSecond: 1_000, burst: 50 }],
  ["rate without a burst", { perSecond: 1_000 }],
  ["want of a rate", undefined],
])("each claim brings the concurrency and the %s of its listener", async (_, rate) => {
  const { deliver } = outboxWith({ concurrency: 7, rate });
  const shares = await deliver();
  expect(shares.length).toBeGreaterThan(0);
  for (const share of shares) expect(share).toEqual({ concurrency: 7, rate });
});

it("a listener that is looked up again brings its new ones, each number alone as well", async () => {
  const { outbox, current, deliver } = outboxWith({ rate: { perSecond: 1_000, burst: 50 } }, true);
  await deliver();
  for (const changed of [
    { concurrency: 10, rate: { perSecond: 1_000, burst: 60 } },
    { concurrency: 10, rate: { perSecond: 900, burst: 60 } },
    { concurrency: 3, rate: { perSecond: 900, burst: 60 } },
    { concurrency: 3, rate: undefined },
  ]) {
    Object.assign(current, changed);
    await outbox.forget("a");
    expect((await deliver()).at(-1)).toEqual(changed);
  }
});
