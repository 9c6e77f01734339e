import { inspect } from "node:util";
import { createReceiver } from "hookproof/receiver";
import { describe, expect, it } from "vitest";
import { clock, hmacListener, hmacParts, type Parts, replaced, SECRET } from "../kit/hostile-target.js";
import { authorized, jwtListener, jwtParts, testKey } from "../kit/hostile-tokens.js";
import { LISTENER_ID, receiveCounting, received } from "./received.js";

const key = testKey("RS256");
const hmac = createReceiver({ ...hmacListener(LISTENER_ID), clock });
const jwt = createReceiver({ ...jwtListener(LISTENER_ID, [key]), clock });
const BODY = '{"ssn":"078-05-1120"}';

/** Everything a log might hold of an answer, in one text; a successful event holds the body on purpose. */
function logged(answer: Awaited<ReturnType<typeof receiveCounting>>): string {
  const { verdict, body } = answer;
  const detail = verdict.ok ? "" : verdict.detail;
  return inspect({ body, detail, checks: verdict.checks }, { depth: 10 }) + JSON.stringify(verdict.checks);
}

function credentialOf(parts: Parts): string {
  return parts.headers.find(([name]) => name === "Webhook-Signature" || name === "Authorization")?.[1] ?? "";
}

/** The signature our secret would have made: worth as much as a leaked one. */
function expectedSignature(parts: Parts): string {
  const timestamp = parts.headers.find(([name]) => name === "Webhook-Timestamp")?.[1] ?? "";
  return credentialOf(hmacParts(LISTENER_ID, { eventId: parts.eventId, timestamp, body: parts.body }));
}

describe("neither answer nor verdict holds what must not be shown", () => {
  it.each<[string, (parts: Parts) => Parts]>([
    ["accepted", (parts) => parts],
    [
      "a signature that does not match",
      (parts) => ({ ...parts, body: Buffer.from('{"ssn":"078-05-1121"}') }),
    ],
    ["a signature with padding", (parts) => withSignature(parts, `${credentialOf(parts)}=`)],
    [
      "a signature twice",
      (parts) => ({ ...parts, headers: [...parts.headers, ["Webhook-Signature", credentialOf(parts)]] }),
    ],
    ["the secret in place of the signature", (parts) => withSignature(parts, SECRET)],
    [
      "a body that is not JSON",
      (parts) => hmacParts(LISTENER_ID, { eventId: parts.eventId, body: "ssn=078-05-1120" }),
    ],
  ])("HMAC: %s", async (_name, spoil) => {
    const parts = spoil(hmacParts(LISTENER_ID, { body: BODY }));
    const text = logged(await receiveCounting(hmac, received(parts)));
    for (const secret of [SECRET, credentialOf(parts), expectedSignature(parts), "078-05-112"])
      expect(text).not.toContain(secret);
    // Enough to tell two signatures apart, not enough to use one.
    expect(text).not.toContain(credentialOf(parts).slice(0, 12));
    expect(text).not.toContain(expectedSignature(parts).slice(0, 12));
  });

  it.each<[string, (parts: Parts) => Parts]>([
    ["accepted", (parts) => parts],
    ["another body", (parts) => ({ ...parts, body: Buffer.from('{"ssn":"078-05-1121"}') })],
    ["another scheme", (parts) => authorized(parts, credentialOf(parts).replace("Bearer", "Token"))],
    ["four segments", (parts) => authorized(parts, `${credentialOf(parts)}.x`)],
    ["a signature cut short", (parts) => authorized(parts, credentialOf(parts).slice(0, -4))],
    ["an expired token", () => jwtParts(LISTENER_ID, key, { body: BODY, claims: { exp: 1 } })],
    ["an unknown key", () => jwtParts(LISTENER_ID, key, { body: BODY, header: { kid: "other" } })],
  ])("JWT: %s", async (_name, spoil) => {
    const parts = spoil(jwtParts(LISTENER_ID, key, { body: BODY }));
    const text = logged(await receiveCounting(jwt, received(parts)));
    for (const segment of credentialOf(parts)
      .split(/[ .]/)
      .filter((part) => part.length > 12))
      expect(text).not.toContain(segment.slice(0, 24));
    expect(text).not.toContain("078-05-112");
  });

  it("what was seen is shortened and escaped, so that a log line stays one line", async () => {
    const parts = hmacParts(LISTENER_ID, { timestamp: `1\u001b[2J\n\u009b2J\u202e${"x".repeat(5_000)}` });
    const { verdict } = await receiveCounting(hmac, received(parts));
    const detail = verdict.ok ? "" : verdict.detail;
    expect(detail).toContain("\\u001b[2J\\n\\u009b2J\\u202e");
    expect(detail).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    expect(detail.length).toBeLessThan(300);
  });

  it("the answer's sentence is the same for everybody: nothing of the request is in it", async () => {
    const answers = new Set<string>();
    for (const body of ["{", "}", "x", ""])
      answers.add((await receiveCounting(hmac, received(hmacParts(LISTENER_ID, { body })))).body);
    expect(answers.size).toBe(1);
  });
});

function withSignature(parts: Parts, signature: string): Parts {
  return { ...parts, headers: replaced(parts.headers, "Webhook-Signature", signature) };
}
