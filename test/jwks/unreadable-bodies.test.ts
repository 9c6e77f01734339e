// A key set that is served in another encoding or compression: what is said of it is what it is.
import { brotliCompressSync, gzipSync } from "node:zlib";
import { checkKeySet, generateKey, remoteKeys } from "hookproof/jwks";
import { beforeAll, expect, it } from "vitest";
import type { Transport } from "../../src/http/transport.js";

const URL_OF_SET = "https://keys.example.com/jwks.json";
let set: string;
beforeAll(async () => {
  set = JSON.stringify({ keys: [(await generateKey({ alg: "ES256", kid: "k" })).publicJwk] });
});

function serving(body: Uint8Array, coding?: string): Transport {
  const headers: [string, string][] = coding === undefined ? [] : [["Content-Encoding", coding]];
  return async () => ({ status: 200, headers, body: new Uint8Array(body), truncated: false });
}

const flipped = (bytes: Buffer) => bytes.map((byte, index) => (index === bytes.length - 8 ? byte ^ 1 : byte));
const GZIP = "not JSON: its gzip is damaged, cut off, or in gzip once more";
const NO_TEXT = "not JSON: it is UTF-16, and not UTF-8, or bytes that are no text: save it as UTF-8";

it.each<[name: string, body: () => Uint8Array, coding: string | undefined, why: string]>([
  ["nothing", () => Buffer.of(), undefined, "not JSON: it is empty"],
  [
    "a byte order mark",
    () => Buffer.from(`\uFEFF${set}`),
    undefined,
    "not JSON: it begins with a byte order mark",
  ],
  ["one in gzip", () => gzipSync(`\uFEFF${set}`), "gzip", "not JSON: it begins with a byte order mark"],
  ["UTF-16", () => Buffer.from(set, "utf16le"), undefined, NO_TEXT],
  ["UTF-16 with a mark", () => Buffer.from(`\uFEFF${set}`, "utf16le"), undefined, NO_TEXT],
  ["UTF-16 the other way", () => Buffer.from(`\uFEFF${set}`, "utf16le").swap16(), undefined, NO_TEXT],
  [
    "UTF-32 with a mark",
    () => Buffer.from(`\uFEFF${set}`.replace(/./gsu, "$&\0"), "utf16le"),
    undefined,
    NO_TEXT,
  ],
  ["a picture", () => Buffer.from([0, 0, 1, 0, 1, 0, 16, 16]), undefined, NO_TEXT],
  ["gzip cut off", () => gzipSync(set).subarray(0, 60), "gzip", GZIP],
  ["gzip with a wrong sum", () => flipped(gzipSync(set)), "gzip", GZIP],
  ["gzip and more", () => Buffer.concat([gzipSync(set), Buffer.from("junk")]), "gzip", GZIP],
  ["gzip twice", () => gzipSync(gzipSync(set)), "gzip, gzip", GZIP],
  [
    "brotli",
    () => brotliCompressSync(set),
    "br",
    'not JSON: it is compressed as "br", and only gzip was asked for',
  ],
  ["Latin-1", () => Buffer.from(set.replace('"k"', '"é"'), "latin1"), "identity", "not UTF-8"],
  [
    "a text of JSON",
    () => Buffer.from(JSON.stringify('{"keys":[]}')),
    undefined,
    "no list of keys: it is a JSON text inside of a text: it was serialised twice",
  ],
])("%s", async (_name, body, coding, why) => {
  const transport = serving(body(), coding);
  const { ok, checks } = await checkKeySet(URL_OF_SET, { transport });
  expect(ok).toBe(false);
  expect(checks.at(-1)?.detail).toBe(why.startsWith("not ") ? `the body is ${why}` : `there is ${why}`);
  const found = await remoteKeys(URL_OF_SET, { transport }).resolve("k", "ES256");
  expect(found).toMatchObject({ ok: false, code: "KEY_SET_INVALID" });
  expect(JSON.stringify(found)).toContain(JSON.stringify(why).slice(1, -1));
});

it.each([["gzip"], ["x-gzip"], ["GZIP"], [undefined]])("gzip is read, said as %s", async (coding) => {
  const transport = serving(gzipSync(set), coding);
  expect(await checkKeySet(URL_OF_SET, { transport })).toMatchObject({ ok: true });
  expect(await remoteKeys(URL_OF_SET, { transport }).resolve("k", "ES256")).toMatchObject({ ok: true });
});
