import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  expectAccepted,
  expectRefusal,
  hmacListener,
  hmacParts,
  NOW,
  pathOf,
  replaced,
  send,
  startTarget,
  type Target,
  without,
} from "../kit/hostile-target.js";
import { converse, type Line, requestBytes } from "../kit/raw-http.js";

let target: Target;
beforeAll(async () => {
  target = await startTarget([
    hmacListener("lst_hmac"),
    hmacListener("LST_HMAC"),
    hmacListener("constructor"),
  ]);
});
afterAll(() => target.stop());

describe("paths that are not the listener's", () => {
  it.each([
    ["another letter case", "/API/v1/webhooks/incoming/lst_hmac"],
    ["a trailing slash", "/api/v1/webhooks/incoming/lst_hmac/"],
    ["two slashes in front", "//api/v1/webhooks/incoming/lst_hmac"],
    ["two slashes inside", "/api/v1/webhooks//incoming/lst_hmac"],
    ["two slashes before the id", "/api/v1/webhooks/incoming//lst_hmac"],
    ["an encoded slash", "/api/v1/webhooks/incoming%2Flst_hmac"],
    ["an encoded letter in the id", "/api/v1/webhooks/incoming/%6cst_hmac"],
    ["an encoded underscore", "/api/v1/webhooks/incoming/lst%5Fhmac"],
    ["an encoded NUL", "/api/v1/webhooks/incoming/lst_hmac%00"],
    ["an encoding that is broken", "/api/v1/webhooks/incoming/%zz"],
    ["an encoding that is not UTF-8", "/api/v1/webhooks/incoming/%ff"],
    ["dots", "/api/v1/webhooks/incoming/../incoming/lst_hmac"],
    ["a dot", "/api/v1/webhooks/incoming/./lst_hmac"],
    ["backslashes", "/api/v1/webhooks\\incoming\\lst_hmac"],
    ["a path in front", "/tenant/api/v1/webhooks/incoming/lst_hmac"],
    ["a path behind", "/api/v1/webhooks/incoming/lst_hmac/more"],
    ["a matrix parameter", "/api/v1/webhooks/incoming/lst_hmac;a=b"],
    ["no id", "/api/v1/webhooks/incoming/"],
    ["__proto__", "/api/v1/webhooks/incoming/__proto__"],
    ["hasOwnProperty", "/api/v1/webhooks/incoming/hasOwnProperty"],
    ["a letter that looks like another", "/api/v1/webhooks/incoming/%D1%95t_hmac"],
    ["8 kB", `/api/v1/webhooks/incoming/${"a".repeat(8_192)}`],
    ["another URL's path", "http://attacker.example/other"],
    ["an asterisk", "*"],
  ])("%s is 404", async (_name, path) => {
    await expectRefusal(target, { ...hmacParts("lst_hmac"), target: path }, 404, "LISTENER_UNKNOWN");
  });

  it("ids differ by letter case, and replay memory with them", async () => {
    const parts = hmacParts("lst_hmac");
    await expectAccepted(target, parts);
    await expectAccepted(target, { ...parts, target: pathOf("LST_HMAC") });
    await expectRefusal(target, parts, 409, "EVENT_DUPLICATE");
  });

  it("a listener may be called like a member of every object", async () => {
    await expectAccepted(target, hmacParts("constructor"));
  });

  it("a query and an absolute URL still name the listener, and no second one", async () => {
    const parts = hmacParts("lst_hmac");
    await expectAccepted(target, { ...parts, target: `${parts.target}?listenerId=LST_HMAC` });
    for (const same of [`http://attacker.example${parts.target}`, `${parts.target}?`, parts.target])
      await expectRefusal(target, { ...parts, target: same }, 409, "EVENT_DUPLICATE");
  });
});

describe("methods", () => {
  it.each(["GET", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND", "QUERY"])(
    "%s is 405 with Allow: POST",
    async (method) => {
      const answer = await send(target, { ...hmacParts("lst_hmac"), method });
      expect([answer.status, answer.code, answer.header("Allow")]).toEqual([
        405,
        "METHOD_NOT_ALLOWED",
        "POST",
      ]);
    },
  );

  it("HEAD is 405 without a body", async () => {
    const { answers } = await converse(target.port, (socket) =>
      socket.write(requestBytes({ ...hmacParts("lst_hmac"), method: "HEAD" })),
    );
    expect(answers.map(({ status, body }) => [status, body])).toEqual([[405, ""]]);
  });

  it("methods count with their case: post is not HTTP", async () => {
    expect((await send(target, { ...hmacParts("lst_hmac"), method: "post" })).status).toBe(400);
  });

  it.each(["X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override"])(
    "%s does not make a POST",
    async (name) => {
      const parts = hmacParts("lst_hmac");
      await expectRefusal(
        target,
        { ...parts, method: "GET", headers: [...parts.headers, [name, "POST"]] },
        405,
        "METHOD_NOT_ALLOWED",
      );
    },
  );

  it("CONNECT is closed without an answer", async () => {
    const { answers } = await converse(target.port, (socket) =>
      socket.write("CONNECT 127.0.0.1:1 HTTP/1.1\r\nHost: x\r\n\r\n"),
    );
    expect(answers).toEqual([]);
  });
});

describe("the ways HTTP lets a request arrive", () => {
  it("HTTP/1.0, also without Host, is 200", async () => {
    const parts = hmacParts("lst_hmac");
    await expectAccepted(target, { ...parts, version: "HTTP/1.0", headers: without(parts.headers, "Host") });
  });

  it("one byte after the other is 200", async () => {
    const parts = hmacParts("lst_hmac", { body: "[]" });
    const { answers } = await converse(target.port, async (socket) => {
      socket.setNoDelay(true);
      for (const byte of requestBytes(parts)) {
        socket.write(Buffer.of(byte));
        await new Promise(setImmediate);
      }
    });
    expect(answers.map(({ status }) => status)).toEqual([200]);
    expect(target.runs(parts.eventId)).toBe(1);
  });

  it("in chunks is 200, and the chunking is not part of what is signed", async () => {
    const parts = hmacParts("lst_hmac", { body: '{"a":1}' });
    const headers: Line[] = [...without(parts.headers, "Content-Length"), ["Transfer-Encoding", "chunked"]];
    const body = Buffer.from('1;ext=x\r\n{\r\n6\r\n"a":1}\r\n0\r\nWebhook-Event-Id: x\r\n\r\n');
    await expectAccepted(target, { ...parts, headers, body });
  });

  it("Expect: 100-continue gets 100 and then the verdict; another expectation is 417", async () => {
    const parts = hmacParts("lst_hmac");
    const headers: Line[] = [...parts.headers, ["Expect", "100-continue"]];
    const { answers } = await converse(target.port, (socket) => {
      socket.write(requestBytes({ ...parts, headers, body: "" }));
      socket.once("data", () => socket.write(parts.body));
    });
    expect(answers.map(({ status }) => status)).toEqual([100, 200]);
    const other = hmacParts("lst_hmac");
    const answer = await send(target, { ...other, headers: [...other.headers, ["Expect", "a miracle"]] });
    expect(answer.status).toBe(417);
    expect(target.runs(other.eventId)).toBe(0);
  });

  it("an upgrade is not taken up, and the request is judged as it is", async () => {
    const parts = hmacParts("lst_hmac");
    const headers: Line[] = [
      ...without(parts.headers, "Connection"),
      ["Connection", "Upgrade, close"],
      ["Upgrade", "h2c"],
      ["HTTP2-Settings", ""],
    ];
    await expectAccepted(target, { ...parts, headers });
  });

  it("two requests in one packet both get their own answer, in order", async () => {
    const [first, second] = [hmacParts("lst_hmac"), hmacParts("lst_hmac", { secret: "another" })];
    const keep = { ...first, headers: without(first.headers, "Connection") };
    const { answers } = await converse(target.port, (socket) =>
      socket.write(Buffer.concat([requestBytes(keep), requestBytes(second)])),
    );
    expect(answers.map(({ status, code }) => [status, code])).toEqual([
      [200, undefined],
      [401, "SIGNATURE_MISMATCH"],
    ]);
  });

  it("a request behind Connection: close is not processed", async () => {
    const [first, second] = [hmacParts("lst_hmac"), hmacParts("lst_hmac")];
    const { answers } = await converse(target.port, (socket) =>
      socket.write(Buffer.concat([requestBytes(first), requestBytes(second)])),
    );
    // Node's parser refuses what stands behind it, and that is the answer it writes.
    expect(answers.map(({ status }) => status)).toEqual([400]);
    expect(target.runs(second.eventId)).toBe(0);
  });

  it.each([1, 5])(
    "an upload that breaks off %i byte before its end runs nothing and uses up no id",
    async (missing) => {
      const parts = hmacParts("lst_hmac");
      const before = target.handled.length;
      const socket = connect(target.port, "127.0.0.1");
      socket.on("error", () => {});
      socket.write(requestBytes({ ...parts, body: parts.body.subarray(0, -missing) }));
      await new Promise(setImmediate);
      socket.destroySoon();
      while (target.handled.length === before) await new Promise((resolve) => setTimeout(resolve, 2));
      expect(target.handled.at(-1)).toMatchObject({ status: 400, verdict: { code: "BODY_UNREADABLE" } });
      await expectAccepted(target, parts);
    },
  );

  it("a header that Connection names is not taken away", async () => {
    const parts = hmacParts("lst_hmac");
    const headers = replaced(parts.headers, "Connection", "close, Webhook-Timestamp, Webhook-Signature");
    await expectAccepted(target, { ...parts, headers });
  });

  it("a body on GET is never run, even when it is signed", async () => {
    await expectRefusal(
      target,
      { ...hmacParts("lst_hmac", { timestamp: String(NOW) }), method: "GET" },
      405,
      "METHOD_NOT_ALLOWED",
    );
  });
});
