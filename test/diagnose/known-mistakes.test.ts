import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { diagnose } from "hookproof/diagnose";
import { fixedClock } from "hookproof/testing";
import { describe, expect, it } from "vitest";
import { itWith } from "../support/needs.js";
import { hasTool } from "../support/outside-tool.js";
import { readVectors } from "../vectors/vector-file.js";

interface NearMiss {
  readonly cause: string;
  readonly name: string;
  readonly secret: string;
  readonly headers: Record<string, string>;
  readonly bodyBase64: string;
}

const hasPython = hasTool("/usr/bin/python3", "-c", "import hmac, hashlib");
const script = fileURLToPath(new URL("sign_wrongly.py", import.meta.url));
const { cases: nearMisses } = readVectors<{ cases: NearMiss[] }>("mistakes.json");
const clock = fixedClock(1_767_225_600_000);

/** The timestamp in milliseconds is a mistake of its own, and stands before what it leads to. */
const HAVE_COMPANY: Readonly<Record<string, number>> = { "timestamp-signed-in-seconds": 1 };

itWith("python3", hasPython)("vectors/mistakes.json holds what Python makes", () => {
  expect(JSON.parse(execFileSync("/usr/bin/python3", [script], { encoding: "utf8" }))).toEqual(nearMisses);
});

describe("a signature that Python made wrongly is explained, first of all:", () => {
  it.each(nearMisses.map((one) => [one.name, one] as const))("%s", async (_, nearMiss) => {
    const { secret, headers, cause } = nearMiss;
    const body = new Uint8Array(Buffer.from(nearMiss.bodyBase64, "base64"));
    const { causes } = await diagnose({ request: { headers, body }, secret, clock });
    expect(causes.map(({ id }) => id)[HAVE_COMPANY[cause] ?? 0]).toBe(cause);
    const said = JSON.stringify(causes);
    for (const hidden of [secret.trim(), headers["Webhook-Signature"] ?? ""])
      expect(said).not.toContain(hidden);
  });
});
