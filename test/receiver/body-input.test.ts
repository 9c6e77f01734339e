import { createReceiver, type ReceivedRequest } from "hookproof/receiver";
import { describe, expect, it } from "vitest";
import { clock, hmacListener, hmacParts } from "../kit/hostile-target.js";
import { LISTENER_ID, received } from "./received.js";

const receiver = createReceiver({ ...hmacListener(LISTENER_ID), clock });
const TEXT = '{"name":"Zoë"}';

/** A good request whose body arrives in another form. */
function arriving(body: unknown): ReceivedRequest {
  return { ...received(hmacParts(LISTENER_ID, { body: TEXT })), body } as ReceivedRequest;
}

async function* chunksOf(...chunks: unknown[]): AsyncIterable<unknown> {
  yield* chunks;
}

describe("a body may arrive as", () => {
  const bytes = Buffer.from(TEXT);

  it.each<[string, () => unknown]>([
    ["a Buffer", () => bytes],
    ["a part of a larger buffer", () => Buffer.from(`xx${TEXT}xx`).subarray(2, -2)],
    ["its text", () => TEXT],
    ["one chunk", () => chunksOf(bytes)],
    [
      "many chunks, cut inside a character",
      () => chunksOf(...Array.from(bytes, (byte) => Uint8Array.of(byte))),
    ],
    ["chunks with empty ones between", () => chunksOf(new Uint8Array(), bytes, new Uint8Array())],
    ["a web stream", () => new Blob([bytes]).stream()],
  ])("%s", async (_name, body) => {
    expect((await receiver.verify(arriving(body()))).ok).toBe(true);
  });
});

describe("a body that cannot be verified any more is a TypeError that says what to change", () => {
  it.each<[string, unknown]>([
    ["a parsed object", { name: "Zoë" }],
    ["a parsed list", ["Zoë"]],
    ["a parsed number", 5],
    ["a parsed boolean", true],
  ])("%s", async (_name, body) => {
    const message = expect.stringMatching(/raw bytes.*parsed body.*body parser/s) as string;
    await expect(receiver.verify(arriving(body))).rejects.toMatchObject({ name: "TypeError", message });
    await expect(receiver.receive(arriving(body), async () => {})).rejects.toMatchObject({
      name: "TypeError",
    });
  });

  it.each<[string, unknown[]]>([
    ["one chunk of text", [TEXT]],
    ["several chunks of text", ['{"name":', '"Zoë"}']],
    ["bytes after text", ['{"name":', Buffer.from('"Zoë"}')]],
    ["text after bytes", [Buffer.from('{"name":'), '"Zoë"}']],
  ])("a stream with setEncoding(): %s", async (_name, chunks) => {
    await expect(receiver.verify(arriving(chunksOf(...chunks)))).rejects.toMatchObject({
      name: "TypeError",
      message: expect.stringContaining("setEncoding()") as string,
    });
  });
});

describe("headers may arrive as", () => {
  const parts = hmacParts(LISTENER_ID);
  const lowerCase = Object.fromEntries(parts.headers.map(([name, value]) => [name.toLowerCase(), value]));

  it.each<[string, ReceivedRequest["headers"]]>([
    ["pairs", parts.headers],
    ["Node's object", lowerCase],
    ["an object of lists", Object.fromEntries(parts.headers.map(([name, value]) => [name, [value]]))],
    ["an object with gaps", { ...lowerCase, authorization: undefined }],
    ["Headers", new Headers(parts.headers as [string, string][])],
    ["a Map", new Map(parts.headers) as never],
  ])("%s", async (_name, headers) => {
    expect((await receiver.verify({ ...received(parts), headers })).ok).toBe(true);
  });

  it("a list of two values is a header sent twice", async () => {
    const headers = { ...lowerCase, "webhook-event-id": [parts.eventId, parts.eventId] };
    expect(await receiver.verify({ ...received(parts), headers })).toMatchObject({
      code: "EVENT_ID_MALFORMED",
    });
  });

  it("one header under two spellings of its name is a header sent twice", async () => {
    const headers = { ...lowerCase, "Webhook-Event-Id": parts.eventId };
    expect(await receiver.verify({ ...received(parts), headers })).toMatchObject({
      code: "EVENT_ID_MALFORMED",
    });
  });
});
