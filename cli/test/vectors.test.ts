import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const BIN = resolve(import.meta.dirname, "../bin/hookproof.js");
const VECTORS = resolve(import.meta.dirname, "../../vectors/protocol.json");

interface HmacCase {
  name: string;
  secret: string;
  timestamp: number;
  eventId: string;
  bodyBase64: string;
  signature: string;
  wrongIfSecretIsDecoded: string;
}

const { hmac } = JSON.parse(readFileSync(VECTORS, "utf8")) as { hmac: HmacCase[] };
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "hookproof-vectors-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe.concurrent("the vectors through the command line, in both directions", () => {
  for (const [index, vector] of hmac.entries()) {
    it(vector.name, async () => {
      const file = (name: string) => join(folder, `${index}-${name}`);
      writeFileSync(file("secret"), `${vector.secret}\n`, { mode: 0o600 });
      writeFileSync(file("body"), Buffer.from(vector.bodyBase64, "base64"));
      const { timestamp, eventId, signature } = vector;

      const signing = ["sign", "--secret-file", file("secret"), "--data", `@${file("body")}`];
      const signed = await hookproof([...signing, "--timestamp", String(timestamp), "--event-id", eventId]);
      expect(signed).toMatchObject({
        exit: 0,
        answer: { headers: { "Webhook-Signature": signature }, bodyBase64: vector.bodyBase64 },
      });

      const verify = async (given: string) => {
        const lines = [
          `Webhook-Timestamp: ${timestamp}`,
          `Webhook-Event-Id: ${eventId}`,
          `Webhook-Signature: ${given}`,
          "Content-Type: application/json",
        ];
        writeFileSync(file(`headers-${given}`), lines.join("\n"));
        const parts = [
          "--headers",
          `@${file(`headers-${given}`)}`,
          "--body",
          `@${file("body")}`,
          "--secret-file",
          file("secret"),
        ];
        return hookproof(["verify", ...parts, "--at", String(timestamp)]);
      };
      expect(await verify(signature)).toMatchObject({ exit: 0, answer: { ok: true } });
      expect(await verify(vector.wrongIfSecretIsDecoded)).toMatchObject({
        exit: 7,
        answer: { ok: false, code: "SIGNATURE_MISMATCH", mistakes: [{ id: "secret-base64url-decoded" }] },
      });
    });
  }
});

async function hookproof(argv: readonly string[]): Promise<{ exit: number; answer: unknown }> {
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [BIN, ...argv, "--json", "--quiet"]);
    return { exit: 0, answer: JSON.parse(stdout) };
  } catch (error) {
    const { code, stdout } = error as { code: number; stdout: string };
    return { exit: code, answer: JSON.parse(stdout) };
  }
}
