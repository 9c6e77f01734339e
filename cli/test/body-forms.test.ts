import { createHmac } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { inspect } from "node:util";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../../test/kit/temporary-folder.js";
import { run } from "../src/main.js";

/** The bodies of captures that are JSON, in the forms in which programs write bytes. */

const SECRET = "QSBrZXkgZm9yIEhvb2twcm9vZiB0ZXN0cyBvbmx5ISE";
const PATH = "/api/v1/webhooks/incoming/lst_1";
const BODY = Buffer.from('{"name":"Söhne","n":1}');

function headersOf(body: Uint8Array): Record<string, string> {
  const [timestamp, id] = ["1767225600", "0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10"];
  const mac = createHmac("sha256", SECRET).update(`${timestamp}.${id}.`).update(body);
  return {
    "Content-Type": "application/json",
    "Webhook-Timestamp": timestamp,
    "Webhook-Event-Id": id,
    "Webhook-Signature": mac.digest("base64url"),
  };
}

/** What `verify` says of a capture with this body, and with more members. */
async function verified(body: unknown, more: object | undefined = {}, signed: Uint8Array = BODY) {
  const folder = temporaryFolder("body-forms");
  mkdirSync(join(folder, "data"), { mode: 0o700 });
  writeFileSync(join(folder, "secret"), SECRET, { mode: 0o600 });
  const capture = { method: "POST", url: PATH, headers: headersOf(signed), body, ...more };
  writeFileSync(join(folder, "captured.json"), JSON.stringify(capture));
  let said = "";
  const sink = () =>
    new Writable({
      write(chunk, _encoding, done) {
        said += String(chunk);
        done();
      },
    });
  const argv = ["verify", join(folder, "captured.json"), "--secret-file", join(folder, "secret")];
  const exit = await run([...argv, "--ignore-time"], {
    stdin: Readable.from([]),
    stdout: sink(),
    stderr: sink(),
    env: { HOOKPROOF_HOME: join(folder, "data"), NO_COLOR: "1" },
    stopSignal: new AbortController().signal,
  });
  return { exit, said };
}

const gateway = { path: PATH, httpMethod: "POST", requestContext: { stage: "prod" } };
const FORMS: readonly (readonly [name: string, body: unknown, more?: object])[] = [
  ["a Buffer as Node's JSON has it", BODY],
  ["a typed array as JSON has it", new Uint8Array(BODY)],
  ["a list of numbers", [...BODY]],
  ["a short Buffer as a log shows it", inspect(BODY)],
  ["MongoDB's form of bytes", { $binary: { base64: BODY.toString("base64"), subType: "00" } }],
  ["MongoDB's older form of bytes", { $binary: BODY.toString("base64"), $type: "00" }],
  ["a Buffer with base64", { type: "Buffer", data: `base64:${BODY.toString("base64")}` }],
  ["base64 that says so", BODY.toString("base64"), { isBase64Encoded: true }],
  ["base64 in lines", BODY.toString("base64").replace(/.{10}/g, "$&\r\n"), { isBase64Encoded: true }],
  ["base64url without padding", BODY.toString("base64url"), { isBase64Encoded: true }],
  ["a Buffer next to a body that was parsed", JSON.parse(String(BODY)), { rawBody: BODY }],
  ["a Buffer in an event of a gateway", BODY, gateway],
  ["base64 in an event of a gateway", BODY.toString("base64"), { ...gateway, isBase64Encoded: true }],
];

describe("a body is read exactly where it is", () => {
  it.each(FORMS)("%s", async (_name, body, more) => {
    const { exit, said } = await verified(body, more as object | undefined);
    expect([exit, said]).toEqual([0, expect.stringContaining("The service would accept this request")]);
  });

  it("a Buffer of any bytes", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 300 }), async (bytes) => {
        for (const body of [Buffer.from(bytes), bytes]) {
          const { said } = await verified(body, {}, bytes);
          expect(said).toMatch(/✔ signature|would accept/);
        }
      }),
      { numRuns: 15 },
    );
  });
});

describe("a body is refused with the reason where it is", () => {
  const parsed = "is parsed JSON, and not the text that was sent";
  it.each([
    ["parsed", JSON.parse(String(BODY)), parsed],
    ["an empty object", {}, parsed],
    ["an empty list", [], parsed],
    ["a list of texts", ["1", "2"], parsed],
    ["an object with a gap in its indexes", { 0: 123, 2: 125 }, parsed],
    ["an event with a type of that name", { type: "Buffer", data: [123], id: 1 }, parsed],
    ["what a template made of an object", "[object Object]", parsed],
    ["a Buffer with 256", { type: "Buffer", data: [123, 256] }, "number 2 of them is 256, which is none"],
    ["a Buffer with -1", { type: "Buffer", data: [-1] }, "number 1 of them is -1, which is none"],
    ["a Buffer with a fraction", { type: "Buffer", data: [1, 2, 1.5] }, "number 3 of them is 1.5"],
    ["a Buffer with a text", { type: "Buffer", data: ["1"] }, 'number 1 of them is "1"'],
    ["a Buffer with nothing", { type: "Buffer", data: [null] }, "number 1 of them is null"],
    ["an array with 300", { 0: 1, 1: 300 }, "number 2 of them is 300"],
    ["a list with -17, as Java has bytes", [-17, 1], "number 1 of them is -17"],
    ["a long Buffer as a log shows it", inspect(Buffer.alloc(60)), "leaves out all but the first bytes"],
    ["no base64", { $binary: { base64: "e30=!" } }, "is given as base64, and is not"],
    ["base64 with a character too many", { $binary: "e30=e" }, "is given as base64, and is not"],
  ])("%s", async (_name, body, reason) => {
    const { exit, said } = await verified(body);
    expect([exit, said]).toEqual([2, expect.stringContaining(reason)]);
  });

  it("text that is said to be base64", async () => {
    const { exit, said } = await verified(String(BODY), { isBase64Encoded: true });
    expect([exit, said]).toEqual([2, expect.stringContaining("is given as base64, and is not")]);
  });

  it.each([
    ["a list", [1, 2, 3]],
    ["an array by its indexes", new Uint8Array([1, 2, 3])],
  ])("%s of numbers whose signature does not match, which may have been parsed", async (_name, body) => {
    const { exit, said } = await verified(body);
    expect([exit, said]).toEqual([3, expect.stringContaining("CAPTURE_INCOMPLETE")]);
  });
});
