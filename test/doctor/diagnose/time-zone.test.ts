// A timestamp that is off by the hours of a time zone is said to be, and no other.
import { signHmac } from "hookproof";
import { diagnose } from "hookproof/diagnose";
import { fixedClock } from "hookproof/testing";
import { expect, it } from "vitest";

const NOW = 1_767_225_600;
const secret = "kq3Zt8Yw1RjV0uXbNfE7hLcPaGm5sDoi9T2yWQKxAxM";
const eventId = "5f0c1d2e-7a4b-4c3d-8e9f-0a1b2c3d4e5f";

async function saidOf(away: number): Promise<readonly string[]> {
  const timestamp = String(NOW + away);
  const signature = await signHmac({ secret, timestamp, eventId, body: "{}" });
  const headers = {
    "Content-Type": "application/json",
    "Webhook-Timestamp": timestamp,
    "Webhook-Event-Id": eventId,
    "Webhook-Signature": signature,
  };
  const clock = fixedClock(NOW * 1000);
  const { mistakes } = await diagnose({ request: { headers, body: "{}" }, secret, clock });
  return mistakes.map(({ message }) => message);
}

it.each([
  [-7_200, "It is 7200 s old, which is 2 h: as if a local time was taken for UTC"],
  [-7_196, "It is 7196 s old, which is 2 h: "],
  [19_800, "It is 19800 s ahead, which is 5.5 h: "],
])("of %i s says the hours", async (away, words) => {
  expect(await saidOf(away)).toEqual([expect.stringContaining(words)]);
});

it.each([-7_207, -361, -86_400, 54_000])("of %i s says the seconds alone", async (away) => {
  expect(await saidOf(away)).toEqual([expect.stringMatching(/ It is \d+ s (?:old|ahead)\.$/)]);
});
