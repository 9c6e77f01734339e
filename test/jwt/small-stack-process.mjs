// @ts-check
// Sends token headers of every depth to a receiver, in a process that was started with a small stack.
import { createReceiver } from "hookproof/receiver";
import { fixedClock } from "hookproof/testing";

const NOW = 1_767_225_600;
const receiver = createReceiver({
  listener: {
    id: "lst_1",
    baseUrl: "https://tenant.example.com",
    auth: {
      method: "jwt",
      keys: { resolve: async () => ({ ok: false, code: "KEY_NOT_FOUND", detail: "" }) },
    },
  },
  clock: fixedClock(NOW * 1000),
});

const answers = { statuses: new Set(), codes: new Set() };
for (let depth = 50; depth <= 3_000; depth += 50) {
  const header = `{"crit":${"[".repeat(depth)}${"]".repeat(depth)},"alg":"EdDSA","kid":"k"}`;
  const { status, verdict } = await receiver.receive(
    {
      method: "POST",
      url: "/api/v1/webhooks/incoming/lst_1",
      headers: {
        "Webhook-Timestamp": String(NOW),
        "Webhook-Event-Id": "11111111-1111-4111-8111-111111111111",
        "Content-Type": "application/json",
        Authorization: `Bearer ${Buffer.from(header).toString("base64url")}.e30.AAAA`,
      },
      body: "{}",
    },
    async () => {},
  );
  answers.statuses.add(status);
  answers.codes.add("code" in verdict ? verdict.code : undefined);
}
console.log(JSON.stringify({ statuses: [...answers.statuses], codes: [...answers.codes] }));
