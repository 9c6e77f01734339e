import { gzipSync } from "node:zlib";
import type { ReceivedEvent } from "hookproof/receiver";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { heldMemory } from "../kit/held-memory.mjs";
import {
  expectAccepted,
  expectRefusal,
  hmacListener,
  hmacParts,
  pathOf,
  replaced,
  send,
  startTarget,
  type Target,
  without,
} from "../kit/hostile-target.js";
import { converse, type Line, requestBytes } from "../kit/raw-http.js";

const LIMIT = 65_536;
const events: ReceivedEvent[] = [];
let target: Target;

beforeAll(async () => {
  target = await startTarget([
    hmacListener("lst_hmac", { run: async (event) => events.push(event) }),
    hmacListener("lst_serialises", { run: async ({ payload }) => JSON.stringify(payload) }),
  ]);
});
afterAll(() => target.stop());

describe("correctly signed bodies that are not one JSON value", () => {
  it.each<[string, string | Uint8Array]>([
    ["empty", ""],
    ["white space", " \n"],
    ["text", "hello"],
    ["cut off", '{"a":'],
    ["a trailing comma", '{"a":1,}'],
    ["single quotes", "{'a':1}"],
    ["a comment", "{} // x"],
    ["NaN", "NaN"],
    ["two values", "{}{}"],
    ["two lines", "{}\n{}"],
    ["a byte order mark", "\ufeff{}"],
    ["UTF-16", Buffer.from('{"a":1}', "utf16le")],
    ["a bad UTF-8 byte", Buffer.from([0x22, 0xff, 0x22])],
    ["an overlong slash", Buffer.from([0x22, 0xc0, 0xaf, 0x22])],
    ["a surrogate in UTF-8", Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])],
    ["a NUL after the value", "{}\0"],
    ["form data", "a=1&b=2"],
  ])("%s is 400", async (_name, body) => {
    await expectRefusal(target, hmacParts("lst_hmac", { body }), 400, "BODY_NOT_JSON");
  });

  it.each(["null", "0", '""', "[]", "{}", " 1\n", '{"a":1,"a":2}', '"\\ud800"'])(
    "%j is 200",
    async (body) => {
      await expectAccepted(target, hmacParts("lst_hmac", { body }));
    },
  );
});

describe("size", () => {
  it("65,536 bytes are 200", async () => {
    await expectAccepted(target, hmacParts("lst_hmac", { body: `"${"a".repeat(LIMIT - 2)}"` }));
  });

  it("65,537 bytes are 413, declared or in chunks, signed or not", async () => {
    const parts = hmacParts("lst_hmac", { body: `"${"a".repeat(LIMIT - 1)}"` });
    await expectRefusal(target, parts, 413, "BODY_TOO_LARGE");
    await expectRefusal(
      target,
      { ...parts, headers: without(parts.headers, "Webhook-Signature", "Webhook-Timestamp") },
      413,
      "BODY_TOO_LARGE",
    );
    const chunked: Line[] = [...without(parts.headers, "Content-Length"), ["Transfer-Encoding", "chunked"]];
    const body = Buffer.from(`${parts.body.length.toString(16)}\r\n${Buffer.from(parts.body)}\r\n0\r\n\r\n`);
    await expectRefusal(target, { ...parts, headers: chunked, body }, 413, "BODY_TOO_LARGE");
  });

  it("characters of several bytes count as their bytes", async () => {
    await expectRefusal(
      target,
      hmacParts("lst_hmac", { body: `"${"€".repeat(LIMIT / 3)}"` }),
      413,
      "BODY_TOO_LARGE",
    );
  });

  it.each([
    ["a listener", pathOf("lst_hmac"), 413],
    ["an unknown listener", pathOf("lst_nobody"), 404],
    ["another path", "/", 404],
  ])("an endless body at %s is answered and cut off, and memory stays flat", async (_name, path, status) => {
    const before = await heldMemory();
    const headers: Line[] = [
      ...without(hmacParts("lst_hmac").headers, "Content-Length", "Connection"),
      ["Transfer-Encoding", "chunked"],
    ];
    const chunk = Buffer.from(`4000\r\n${"a".repeat(0x4000)}\r\n`);
    let chunks = 0;
    const { answers } = await converse(target.port, (socket) => {
      socket.write(requestBytes({ target: path, headers }));
      const pump = (): void => {
        while (socket.writable && chunks++ < 1_000_000) if (!socket.write(chunk)) break;
      };
      socket.on("drain", pump);
      pump();
    });
    expect(answers.map((answer) => [answer.status, answer.header("Connection")])).toEqual([
      [status, "close"],
    ]);
    // What fits into the kernel's buffers leaves the client; what the server holds is bounded by the limit.
    expect(chunks * 0x4000).toBeLessThan(64 * 1024 * 1024);
    expect((await heldMemory()).buffers - before.buffers).toBeLessThan(16 * 1024 * 1024);
  });

  it("a request pipelined behind a body that was refused is not processed", async () => {
    for (let i = 0; i < 10; i++) {
      const large = hmacParts("lst_hmac", { body: Buffer.alloc(70_000 + i * 1_000, 0x20) });
      const next = hmacParts("lst_hmac");
      const both = [{ ...large, headers: without(large.headers, "Connection") }, next];
      const bytes = Buffer.concat(both.map(requestBytes));
      const { answers } = await converse(target.port, (socket) => socket.write(bytes));
      expect(answers.map(({ status }) => status)).toEqual([413]);
      expect(target.runs(next.eventId)).toBe(0);
      await expectAccepted(target, next);
    }
  });
});

describe("what the body says of itself", () => {
  it("no Content-Type is 400", async () => {
    const parts = hmacParts("lst_hmac");
    await expectRefusal(
      target,
      { ...parts, headers: without(parts.headers, "Content-Type") },
      400,
      "CONTENT_TYPE_MISSING",
    );
  });

  it.each([
    "text/plain",
    "application/x-www-form-urlencoded",
    "application/json-patch+json",
    "application/jsonx",
    "application",
    "",
    ";application/json",
    "text/plain; application/json",
    "application/json\u00a0",
  ])("Content-Type %j is 415", async (type) => {
    const parts = hmacParts("lst_hmac");
    const headers = replaced(parts.headers, "Content-Type", type);
    await expectRefusal(target, { ...parts, headers }, 415, "CONTENT_TYPE_UNSUPPORTED");
  });

  it.each([
    "application/json; charset=utf-8",
    "Application/JSON",
    'application/json; profile="a,b"',
    "application/json;",
  ])("Content-Type %j is 200", async (type) => {
    const parts = hmacParts("lst_hmac");
    await expectAccepted(target, { ...parts, headers: replaced(parts.headers, "Content-Type", type) });
  });

  it.each(["gzip", "identity", "br", ""])("Content-Encoding %j is 415", async (encoding) => {
    const parts = hmacParts("lst_hmac", { body: encoding === "gzip" ? gzipSync("{}") : "{}" });
    const headers: Line[] = [...parts.headers, ["Content-Encoding", encoding]];
    await expectRefusal(target, { ...parts, headers }, 415, "CONTENT_ENCODING_UNSUPPORTED");
  });

  it("a bad signature comes before either: 401", async () => {
    const parts = hmacParts("lst_hmac", { secret: "another", body: "not json" });
    const headers: Line[] = [
      ...replaced(parts.headers, "Content-Type", "text/plain"),
      ["Content-Encoding", "br"],
    ];
    await expectRefusal(target, { ...parts, headers }, 401, "SIGNATURE_MISMATCH");
  });
});

describe("JSON that hurts those who handle it carelessly", () => {
  const deep = `${"[".repeat(32_000)}${"]".repeat(32_000)}`;

  it("32,000 levels are 200, and the bytes reach the automation as they were sent", async () => {
    const parts = hmacParts("lst_hmac", { body: deep });
    await expectAccepted(target, parts);
    const event = events.find(({ id }) => id === parts.eventId);
    expect(Buffer.from(event?.body ?? []).equals(parts.body)).toBe(true);
    expect(() => JSON.stringify(event?.payload)).toThrow(RangeError);
  });

  it("an automation that serialises such a value fails alone: 503, and the id is not used up", async () => {
    const parts = hmacParts("lst_serialises", { body: deep });
    for (const attempt of [1, 2]) {
      const answer = await send(target, parts);
      expect([answer.status, answer.code]).toEqual([503, "RUN_FAILED"]);
      expect(target.runs(parts.eventId)).toBe(attempt);
    }
  });

  it("__proto__ and constructor members pollute nothing", async () => {
    const body =
      '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"toString":1,"then":{"then":1}}';
    const parts = hmacParts("lst_hmac", { body });
    await expectAccepted(target, parts);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    const event = events.find(({ id }) => id === parts.eventId);
    expect(Object.getPrototypeOf(event?.payload)).toBe(Object.prototype);
  });
});
