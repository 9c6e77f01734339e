import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  expectAccepted,
  expectRefusal,
  hmacListener,
  hmacParts,
  NOW,
  replaced,
  send,
  startTarget,
  type Target,
  without,
} from "../kit/hostile-target.js";
import { jwtListener, jwtParts, testKey } from "../kit/hostile-tokens.js";
import type { Line } from "../kit/raw-http.js";

const key = testKey("EdDSA");
let target: Target;

beforeAll(async () => {
  target = await startTarget([hmacListener("lst_hmac"), jwtListener("lst_jwt", [key])]);
});
afterAll(() => target.stop());

describe("a header of the protocol is missing", () => {
  it.each([
    ["Webhook-Timestamp", "TIMESTAMP_MISSING"],
    ["Webhook-Event-Id", "EVENT_ID_MISSING"],
  ])("no %s is 400", async (name, code) => {
    for (const parts of [hmacParts("lst_hmac"), jwtParts("lst_jwt", key)])
      await expectRefusal(target, { ...parts, headers: without(parts.headers, name) }, 400, code);
  });

  it("is not hidden by a trailer of that name", async () => {
    const parts = hmacParts("lst_hmac");
    const chunked = `${parts.body.length.toString(16)}\r\n${Buffer.from(parts.body)}\r\n0\r\nWebhook-Timestamp: ${NOW}\r\n\r\n`;
    const headers: Line[] = [
      ...without(parts.headers, "Webhook-Timestamp", "Content-Length"),
      ["Transfer-Encoding", "chunked"],
      ["Trailer", "Webhook-Timestamp"],
    ];
    await expectRefusal(target, { ...parts, headers, body: Buffer.from(chunked) }, 400, "TIMESTAMP_MISSING");
  });
});

describe("the credential is missing", () => {
  it("no Webhook-Signature is 401", async () => {
    const parts = hmacParts("lst_hmac");
    await expectRefusal(
      target,
      { ...parts, headers: without(parts.headers, "Webhook-Signature") },
      401,
      "SIGNATURE_MISSING",
    );
  });

  it("no Authorization is 401", async () => {
    const parts = jwtParts("lst_jwt", key);
    await expectRefusal(
      target,
      { ...parts, headers: without(parts.headers, "Authorization") },
      401,
      "TOKEN_MISSING",
    );
  });
});

describe("the time window", () => {
  it.each([-301, 301, -86_400, 10 * 365 * 86_400])("%i s away is 400", async (away) => {
    const timestamp = String(NOW + away);
    await expectRefusal(target, hmacParts("lst_hmac", { timestamp }), 400, "TIMESTAMP_OUT_OF_WINDOW");
    await expectRefusal(target, jwtParts("lst_jwt", key, { timestamp }), 400, "TIMESTAMP_OUT_OF_WINDOW");
  });

  it.each([-300, 0, 300])("%i s away is 200", async (away) => {
    const timestamp = String(NOW + away);
    await expectAccepted(target, hmacParts("lst_hmac", { timestamp }));
    await expectAccepted(target, jwtParts("lst_jwt", key, { timestamp }));
  });
});

describe("a timestamp has one spelling", () => {
  it.each([
    ["an exponent", "1e9"],
    ["a plus sign", `+${NOW}`],
    ["a short plus sign", "+5"],
    ["a minus sign", "-5"],
    ["a fraction", `${NOW}.0`],
    ["a short fraction", "5.0"],
    ["hexadecimal", "0x10"],
    ["hexadecimal of now", `0x${NOW.toString(16)}`],
    ["leading zeros", "00005"],
    ["a leading zero before now", `0${NOW}`],
    ["a no-break space", `${NOW}\u00a0`],
    ["Arabic digits", Buffer.from("١٧٦٧٢٢٥٦٠٠").toString("latin1")],
    ["400 digits", "1".repeat(400)],
    ["nothing", ""],
    ["digits with a separator", "1_767_225_600"],
    ["a list", `${NOW}, ${NOW}`],
  ])("%s is 400", async (_name, timestamp) => {
    await expectRefusal(target, hmacParts("lst_hmac", { timestamp }), 400, "TIMESTAMP_MALFORMED");
  });

  it("milliseconds are well formed and far away: 400", async () => {
    await expectRefusal(
      target,
      hmacParts("lst_hmac", { timestamp: String(NOW * 1000) }),
      400,
      "TIMESTAMP_OUT_OF_WINDOW",
    );
  });
});

describe("a header sent twice", () => {
  it.each([
    ["lst_hmac", "Webhook-Timestamp", 400, "TIMESTAMP_MALFORMED"],
    ["lst_hmac", "Webhook-Event-Id", 400, "EVENT_ID_MALFORMED"],
    ["lst_hmac", "Webhook-Signature", 401, "SIGNATURE_MALFORMED"],
    ["lst_jwt", "Webhook-Timestamp", 400, "TIMESTAMP_MALFORMED"],
    ["lst_jwt", "Webhook-Event-Id", 400, "EVENT_ID_MALFORMED"],
    ["lst_jwt", "Authorization", 401, "TOKEN_MALFORMED"],
    ["lst_hmac", "Content-Type", 400, "CONTENT_TYPE_MALFORMED"],
  ])("%s: %s is %i", async (listenerId, name, status, code) => {
    const parts = listenerId === "lst_hmac" ? hmacParts(listenerId) : jwtParts(listenerId, key);
    const [, value = ""] = parts.headers.find(([one]) => one === name) ?? [];
    const shouted: Line = [name.toUpperCase(), value];
    await expectRefusal(target, { ...parts, headers: [...parts.headers, shouted] }, status, code);
    await expectRefusal(target, { ...parts, headers: [[name, ""], ...parts.headers] }, status, code);
    await expectRefusal(
      target,
      { ...parts, headers: replaced(parts.headers, name, `${value}, ${value}`) },
      status,
      code,
    );
  });

  it("the second one behind 2,100 other lines is seen as well", async () => {
    const parts = hmacParts("lst_hmac");
    const filler = Array.from({ length: 2_100 }, (): Line => ["a", ""]);
    const headers = [...parts.headers, ...filler, ["Webhook-Event-Id", randomUUID()] as const];
    await expectRefusal(target, { ...parts, headers }, 400, "EVENT_ID_MALFORMED");
  });

  it("a credential of the other method next to the right one changes nothing", async () => {
    const parts = hmacParts("lst_hmac");
    await expectAccepted(target, { ...parts, headers: [...parts.headers, ["Authorization", "Bearer x"]] });
  });
});

describe("event ids that are not UUIDs of version 4", () => {
  it.each([
    ["nil", "00000000-0000-0000-0000-000000000000"],
    ["max", "ffffffff-ffff-ffff-ffff-ffffffffffff"],
    ["version 1", "c232ab00-9414-11ec-b3c8-9f6bdeced846"],
    ["version 5", "2ed6657d-e927-568b-95e1-2665a8aea6a2"],
    ["version 7", "017f22e2-79b0-7cc3-98c4-dc0c0c07398f"],
    ["braces", "{9b2f8d1c-3a4e-4f5b-8c6d-7e8f9a0b1c2d}"],
    ["no hyphens", "9b2f8d1c3a4e4f5b8c6d7e8f9a0b1c2d"],
    ["urn:uuid:", "urn:uuid:9b2f8d1c-3a4e-4f5b-8c6d-7e8f9a0b1c2d"],
    ["the wrong variant", "9b2f8d1c-3a4e-4f5b-cc6d-7e8f9a0b1c2d"],
    ["a digit too few", "9b2f8d1c-3a4e-4f5b-8c6d-7e8f9a0b1c2"],
    ["a no-break space", "9b2f8d1c-3a4e-4f5b-8c6d-7e8f9a0b1c2d\u00a0"],
    ["full-width digits", Buffer.from("９b2f8d1c-3a4e-4f5b-8c6d-7e8f9a0b1c2d").toString("latin1")],
    ["nothing", ""],
    ["8 kB", "9".repeat(8_192)],
  ])("%s is 400", async (_name, eventId) => {
    await expectRefusal(target, hmacParts("lst_hmac", { eventId }), 400, "EVENT_ID_MALFORMED");
  });
});

describe("letter case of event ids", () => {
  it("upper case is 200; then lower and mixed case are 409", async () => {
    const eventId = "9B2F8D1C-3A4E-4F5B-8C6D-7E8F9A0B1C2D";
    await expectAccepted(target, hmacParts("lst_hmac", { eventId }));
    expect(target.runs(eventId.toLowerCase())).toBe(1);
    for (const copy of [eventId.toLowerCase(), `9b2f${eventId.slice(4)}`, eventId])
      await expectRefusal(target, hmacParts("lst_hmac", { eventId: copy }), 409, "EVENT_DUPLICATE");
  });

  it("at a JWT listener as well, with jti in either case", async () => {
    const eventId = "1B2F8D1C-3A4E-4F5B-8C6D-7E8F9A0B1C2D";
    const jti = eventId.toLowerCase();
    await expectAccepted(target, jwtParts("lst_jwt", key, { eventId, claims: { jti } }));
    await expectRefusal(target, jwtParts("lst_jwt", key, { eventId: jti }), 409, "EVENT_DUPLICATE");
  });
});

describe("header names and values in other forms", () => {
  it("names count without case", async () => {
    const parts = hmacParts("lst_hmac");
    const headers = parts.headers.map(([name, value]): Line => [name.toLowerCase(), value]);
    await expectAccepted(target, { ...parts, headers });
  });

  it.each(["Webhook_Timestamp", "X-Webhook-Timestamp", "Webhook-Timestamp2"])(
    "%s is not Webhook-Timestamp",
    async (name) => {
      const parts = hmacParts("lst_hmac");
      const headers: Line[] = [...without(parts.headers, "Webhook-Timestamp"), [name, String(NOW)]];
      await expectRefusal(target, { ...parts, headers }, 400, "TIMESTAMP_MISSING");
    },
  );

  it("white space around a value is HTTP's, and not part of what is signed", async () => {
    const parts = hmacParts("lst_hmac");
    await expectAccepted(target, {
      ...parts,
      headers: replaced(parts.headers, "Webhook-Timestamp", ` \t${NOW}\t `),
    });
  });

  it("answers never echo what was sent", async () => {
    const parts = hmacParts("lst_hmac", { timestamp: "<script>1</script>" });
    const answer = await send(target, parts);
    expect(answer.status).toBe(400);
    expect(answer.body).not.toContain("script");
    expect(answer.header("Content-Type")).toBe("application/json");
  });
});
