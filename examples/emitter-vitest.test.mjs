// npx vitest run examples/emitter-vitest.test.mjs
import { createSender, hmacSigner } from "hookproof";
import { createFakeReceiver, waitFor } from "hookproof/testing";
import { expect, test } from "vitest";

const secret = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";

/** The code under test: an application that tells the listener who has left. */
function createOffboarding(transport) {
  const sender = createSender({
    url: "https://tenant.example.com/api/v1/webhooks/incoming/lst_offboarding",
    signer: hmacSigner({ secret }),
    transport,
    wait: async () => {}, // a test does not sit out the pauses between attempts
  });
  return { employeeLeft: (user) => sender.send({ user }) };
}

test("an event survives an outage and a lost answer, and runs once", async () => {
  const receiver = createFakeReceiver([503, { accept: true, drop: true }], { secret });
  const { outcome } = await createOffboarding(receiver.transport).employeeLeft("u_1");

  expect(outcome).toBe("accepted");
  expect(receiver.requests.map(({ status }) => status)).toEqual([503, undefined, 409]);
  expect(new Set(receiver.requests.map(({ eventId }) => eventId)).size).toBe(1);
  expect(receiver.requests.every(({ verdict }) => verdict.ok || verdict.code === "EVENT_DUPLICATE")).toBe(
    true,
  );
});

test("work in the background is waited for", async () => {
  const receiver = createFakeReceiver([], { secret });
  void createOffboarding(receiver.transport).employeeLeft("u_2");
  const request = await waitFor(() => receiver.requests[0]);
  expect(JSON.parse(request.text)).toEqual({ user: "u_2" });
});
