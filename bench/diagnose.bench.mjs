// How long does it take to find out that nothing explains a signature, which is the longest a diagnosis takes?
import { randomBytes } from "node:crypto";
import { diagnose } from "hookproof/diagnose";
import { reportFigures, summary } from "./support.mjs";

const secret = "QSBrZXkgZm9yIEhvb2twcm9vZiB0ZXN0cyBvbmx5ISE";
const url = "https://tenant.example.com/api/v1/webhooks/incoming/lst_1";
const clock = { now: () => 1_767_225_600_000 };

/** A body on which every mistake makes a difference: its names, numbers, dates, nulls and characters change in print. */
function bodyOf(bytes) {
  const items = [];
  const each = 170;
  while ((items.length + 1) * each < bytes) {
    const n = items.length;
    const rest = [1, 2.5, 1e25, true, null, {}];
    const text = { displayName: `Zoë ${n} `, user_id: n, url: "https://a.example/?b=<c>&d='e'", note: "" };
    items.push({ ...text, at: "2026-01-01T00:00:00Z", rest });
  }
  const text = JSON.stringify({ zone: "", items, none: null });
  const missing = bytes - Buffer.byteLength(text);
  return Buffer.from(text.replace('"zone":""', `"zone":"${"x".repeat(Math.max(0, missing))}"`));
}

async function millisecondsOf(body, how) {
  const headers = {
    "Content-Type": "application/json",
    "Webhook-Timestamp": "1767225600",
    "Webhook-Event-Id": "0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10",
    "Webhook-Signature": how,
  };
  // The work is the same on every run, so what counts is the processor's time, whatever else the machine does.
  const before = process.cpuUsage();
  const { mistakes } = await diagnose({ request: { url, headers, body }, secret, clock });
  const { user, system } = process.cpuUsage(before);
  if (mistakes[0]?.id !== "signature-unexplained") throw new Error("something explains a random signature");
  return (user + system) / 1000;
}

const goals = new Map([
  [1_024, 10],
  [65_536, 100],
]);
const sizes = [100, 1_024, 8_192, 65_536];
const times = new Map(sizes.map((size) => [size, []]));
for (let round = -2; round < 25; round++) {
  for (const size of sizes) {
    const took = await millisecondsOf(bodyOf(size), randomBytes(32).toString("base64url"));
    if (round >= 0) times.get(size).push(took);
  }
}
const figures = sizes.map((size) => {
  const { perSecond: value, low, high } = summary(times.get(size));
  return [`${size.toLocaleString("en")} bytes`, { value, low, high, atMost: goals.get(size) }];
});
reportFigures({
  question: "Diagnosing a signature that nothing explains, time of the processor",
  unit: "ms",
  figures: Object.fromEntries(figures),
});
