import { hmacSigner } from "hookproof";
import { createOutbox, memoryStore, type Outbox, type OutboxListenerOptions } from "hookproof/outbox";
import { expect, it } from "vitest";

const one: OutboxListenerOptions = {
  url: "https://tenant.example.com/api/v1/webhooks/incoming/lst_1",
  signer: hmacSigner({ secret: "a-secret-of-more-than-thirty-two-characters" }),
};
const store = memoryStore();
const payload = { type: "user.offboarded" };

// What a line here must not compile is said by the compiler: `npm run check:types`.
it("names of a map are a type, and others do not compile", async () => {
  const outbox = createOutbox({ store, listeners: { offboarding: one, audit: one } });
  await outbox.enqueue({ listener: "offboarding", payload });
  await outbox.enqueue({ listeners: ["offboarding", "audit"], payload });
  // @ts-expect-error: a misspelt name
  expect(() => outbox.enqueue({ listener: "offbording", payload })).toThrow(/no listener "offbording"/);
  // @ts-expect-error: a misspelt name among several
  expect(() => outbox.enqueue({ listeners: ["audit", "offbording"], payload })).toThrow(/no listener/);
  // @ts-expect-error: a misspelt name
  await expect(outbox.pause("offbording")).rejects.toThrow(/no listener/);
  // @ts-expect-error: a misspelt member
  expect(() => outbox.enqueue({ listener: "audit", payload, orderingkey: "k" })).toThrow(
    'an event for the outbox has no option "orderingkey"; did you mean orderingKey?',
  );
});

it("with a function, a plain record or explicit types any name compiles", async () => {
  const names: Record<string, OutboxListenerOptions> = { offboarding: one };
  const boxes: Outbox[] = [
    createOutbox({ store, listeners: names }),
    createOutbox({ store, listeners: (name) => (name === "offboarding" ? one : undefined) }),
    createOutbox<object>({ store, listeners: { offboarding: one } }) as unknown as Outbox,
    // One that knows its names is taken where any outbox is.
    createOutbox({ store, listeners: { offboarding: one } }),
  ];
  const name: string = "offboarding";
  for (const outbox of boxes) await outbox.enqueue({ listener: name, payload });
  expect(boxes).toHaveLength(4);
});
