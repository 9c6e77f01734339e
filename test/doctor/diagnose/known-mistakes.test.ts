import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { diagnose } from "hookproof/diagnose";
import { fixedClock } from "hookproof/testing";
import { describe, expect, it } from "vitest";
import { itWith } from "../../kit/needs.js";
import { hasTool } from "../../kit/outside-tool.js";
import { readVectors } from "../../vectors/vector-file.js";

interface WrongRequest {
  readonly mistake: string;
  readonly name: string;
  readonly secret: string;
  readonly headers: Record<string, string>;
  readonly bodyBase64: string;
}

const hasPython = hasTool("/usr/bin/python3", "-c", "import hmac, hashlib");
const script = fileURLToPath(new URL("sign_wrongly.py", import.meta.url));
const { cases: wrongRequests, printed } = readVectors<{ cases: WrongRequest[]; printed: WrongRequest[] }>(
  "mistakes.json",
);
const clock = fixedClock(1_767_225_600_000);

/** The place in the list where it is not the first: a timestamp in milliseconds is another mistake, named before. */
const PLACES: Readonly<Record<string, number>> = { "timestamp-signed-in-seconds": 1 };

itWith("python3", hasPython)("vectors/mistakes.json holds what Python makes", () => {
  expect(JSON.parse(execFileSync("/usr/bin/python3", [script], { encoding: "utf8" }))).toEqual(wrongRequests);
});

describe("a signature that was made wrongly is explained, first of all:", () => {
  it.each([...wrongRequests, ...printed].map((one) => [one.name, one] as const))("%s", async (_, wrong) => {
    const { secret, headers, mistake } = wrong;
    const body = new Uint8Array(Buffer.from(wrong.bodyBase64, "base64"));
    const { mistakes } = await diagnose({ request: { headers, body }, secret, clock });
    expect(mistakes.map(({ id }) => id)[PLACES[mistake] ?? 0]).toBe(mistake);
    const said = JSON.stringify(mistakes);
    for (const hidden of [secret.trim(), headers["Webhook-Signature"] ?? ""])
      expect(said).not.toContain(hidden);
  });
});
