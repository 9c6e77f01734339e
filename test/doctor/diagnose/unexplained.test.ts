import { createHmac } from "node:crypto";
import { diagnose } from "hookproof/diagnose";
import { fixedClock } from "hookproof/testing";
import { describe, expect, it } from "vitest";

const secret = "QSBrZXkgZm9yIEhvb2twcm9vZiB0ZXN0cyBvbmx5ISE";
const timestamp = "1767225600";
const eventId = "0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10";
const clock = fixedClock(1_767_225_600_000);

function signatureOf(input: string | Uint8Array, key = secret): string {
  return createHmac("sha256", key).update(input).digest("base64url");
}

async function mistakeIn(body: string | Uint8Array, signature = signatureOf(body, "another secret")) {
  const headers = {
    "Content-Type": "application/json",
    "Webhook-Timestamp": timestamp,
    "Webhook-Event-Id": eventId,
    "Webhook-Signature": signature,
  };
  const { mistakes } = await diagnose({ request: { headers, body }, secret, clock });
  return { ...mistakes[0], said: JSON.stringify(mistakes), signature };
}

describe("a signature that nothing explains", () => {
  it("says what was tried, and what to show to somebody who helps, without a secret in it", async () => {
    const { id, fix, said, signature } = await mistakeIn('{"a":1}');
    expect(id).toBe("signature-unexplained");
    expect(fix).toMatch(
      /What was tried: \d+ mistakes in the secret, \d+ mistakes in the signing input, \d+ mistakes in the body/,
    );
    // sha256sum of the body, and the first 8 digits of the secret's.
    expect(fix).toContain("015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae62276a97f862, 7 bytes");
    expect(fix).toContain("sha256:02d243df");
    for (const shown of [timestamp, eventId]) expect(fix).toContain(shown);
    for (const hidden of [secret, signature, '{"a":1}']) expect(said).not.toContain(hidden);
  });

  it.each([
    ["a quote that has become NUL", '{"a":"b"}', '{"a":"b\0}'],
    ["a question mark that has become a byte of no UTF-8", '{"a":"?"}', '{"a":"\xde"}'],
    ["a space of Python's that has become a tab", '{"a": [1, 2]}', '{"a": [1,\t2]}'],
    ["a line break of an indented body that has become a space", '{\n  "a": 1\n}', '{\n  "a": 1 }'],
  ])("is one of a body with damage in one byte: %s", async (_, signed, received) => {
    const signature = signatureOf(`${timestamp}.${eventId}.${signed}`);
    const { said } = await mistakeIn(Buffer.from(received, "latin1"), signature);
    expect(said).toContain("signature-unexplained");
  });

  it("names a database where the body is printed as one prints it, and only there", async () => {
    const stored = /jsonb/;
    expect(
      (await mistakeIn('{"at": {"b": [1, 2], "zz": null, "aaa": 2, "bbbb": 1}, "id": 1}')).message,
    ).toMatch(stored);
    // Another order, other spaces, and an order that is the alphabetical one as well.
    for (const body of [
      '{"aaa": 1, "b": 2, "cc": 3, "d": 4}',
      '{"b":1,"zz":2,"aaa":3,"bbbb":4}',
      '{"a": 1, "b": 2, "c": 3, "d": 4}',
    ])
      expect((await mistakeIn(body)).message).not.toMatch(stored);
  });
});
