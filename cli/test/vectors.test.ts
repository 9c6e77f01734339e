import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Readable, Writable } from "node:stream";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { run } from "../src/main.js";

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

// In this process: what is asked is what a command makes of bytes. transcripts/sign-and-verify.txt runs both commands.
async function hookproof(argv: readonly string[]): Promise<{ exit: number; answer: unknown }> {
  let stdout = "";
  const write = (chunk: unknown, _encoding: string, done: () => void) => {
    stdout += chunk;
    done();
  };
  const exit = await run([...argv, "--json", "--quiet"], {
    stdin: Readable.from([]),
    stdout: new Writable({ write }),
    stderr: new Writable({ write }),
    env: { HOOKPROOF_HOME: folder },
    stopSignal: new AbortController().signal,
  });
  return { exit, answer: JSON.parse(stdout) };
}
