// What a key store's file may hold: everything else is refused, with nothing changed.
import { expect, it } from "vitest";
import { parseStoredKeys } from "../../src/key-store/stored-key.js";

const KEY = { kid: "a", alg: "EdDSA", createdAt: 1, publicJwk: {}, privateJwk: {} };
const ERASED = { kid: "a", alg: "EdDSA", createdAt: 1, removesAt: 5 };
const SEAL = {
  ...{ kdf: "scrypt", N: 131_072, r: 8, p: 1, salt: "", cipher: "aes-256-gcm", iv: "", data: "", tag: "" },
};
const { privateJwk: _, ...PUBLIC } = KEY;
const sealed = (change: object) => ({ ...PUBLIC, sealedPrivateKey: { ...SEAL, ...change } });

const parsed = (content: object | null) => parseStoredKeys(JSON.stringify(content), "keys.json");

it("without a file the store is empty, and of the usual max-age", () => {
  expect(parseStoredKeys(undefined, "keys.json")).toEqual({ maxAgeSeconds: 300, keys: [] });
  expect(parsed({ version: 1, keys: [] })).toEqual({ maxAgeSeconds: 300, keys: [] });
});

it("the members of the store are kept", () => {
  const store = { maxAgeSeconds: 0, publishedTo: "https://keys.example.com/", keys: [KEY] };
  expect(parsed({ version: 1, ...store })).toEqual(store);
});

it.each<[what: string, content: object | null, message: string]>([
  ["null", null, "is not a key store"],
  ["a version as text", { version: "1", keys: [] }, "is not a key store"],
  ["version 0", { version: 0, keys: [] }, "is not a key store"],
  ["no version", { keys: [] }, "is not a key store"],
  ["no keys", { version: 1 }, "is not a key store"],
  ["keys that are no list", { version: 1, keys: {} }, "is not a key store"],
  ["a newer version", { version: 2, keys: [] }, "is of version 2, and this one reads version 1"],
  ["a negative max-age", { version: 1, maxAgeSeconds: -1, keys: [] }, "has no valid maxAgeSeconds"],
  ["a max-age of half a second", { version: 1, maxAgeSeconds: 0.5, keys: [] }, "has no valid maxAgeSeconds"],
  ["a max-age as text", { version: 1, maxAgeSeconds: "300", keys: [] }, "has no valid maxAgeSeconds"],
  ["a URL that is no text", { version: 1, publishedTo: 5, keys: [] }, "has no valid publishedTo"],
  ["a second key that is none", { version: 1, keys: [KEY, null] }, "has a key, number 2, that is not one"],
])("refuses %s", (_, content, message) => {
  expect(() => parsed(content)).toThrow(`keys.json ${message}`);
});

it.each<[what: string, key: object]>([
  ["every time", { ...KEY, signsAt: 2, retiresAt: 3, removesAt: 4, askedAt: 1 }],
  ["only its names, as it is erased", ERASED],
  ["the lowest cost of its seal", sealed({})],
  ["the highest cost of its seal", sealed({ N: 2 ** 20, r: 32, p: 16 })],
])("takes a key with %s", (_, key) => {
  expect(parsed({ version: 1, keys: [key] }).keys).toEqual([key]);
});

it.each<[what: string, key: unknown]>([
  ["a list", []],
  ["a text", "a"],
  ["a kid that a shell would act on", { ...KEY, kid: "$(x)" }],
  ["a kid that is no text", { ...KEY, kid: 1 }],
  ["a list of a kid", { ...KEY, kid: ["a"] }],
  ["an algorithm that there is not", { ...KEY, alg: "HS256" }],
  ["no time of creation", { ...KEY, createdAt: undefined }],
  ["a time of creation as text", { ...KEY, createdAt: "1" }],
  ...["signsAt", "retiresAt", "removesAt", "askedAt"].map((time): [string, unknown] => [
    `${time} as text`,
    { ...KEY, [time]: "1" },
  ]),
  ["null for a public half", { ...KEY, publicJwk: null }],
  ["a list for a private half", { ...KEY, privateJwk: [] }],
  ["no private half", PUBLIC],
  ["no private half, though it was removed", { ...PUBLIC, removesAt: 5 }],
  ["a private half alone", { ...ERASED, privateJwk: {} }],
  ["a sealed half alone", { ...ERASED, sealedPrivateKey: SEAL }],
  ["only its names, and never removed", { ...ERASED, removesAt: undefined }],
  ["null for a seal", { ...PUBLIC, sealedPrivateKey: null }],
  ["a text for a seal", { ...PUBLIC, sealedPrivateKey: "seal" }],
  ["another stretching", sealed({ kdf: "pbkdf2" })],
  ["another cipher", sealed({ cipher: "aes-128-gcm" })],
  ["a lower N", sealed({ N: 2 ** 16 })],
  ["a higher N", sealed({ N: 2 ** 20 + 1 })],
  ["an N as text", sealed({ N: "131072" })],
  ["an N between whole numbers", sealed({ N: 131_072.5 })],
  ["a lower r", sealed({ r: 7 })],
  ["a higher r", sealed({ r: 33 })],
  ["a lower p", sealed({ p: 0 })],
  ["a higher p", sealed({ p: 17 })],
  ...["salt", "iv", "data", "tag"].map((member): [string, unknown] => [
    `a seal without ${member}`,
    sealed({ [member]: undefined }),
  ]),
])("refuses a key with %s", (_, key) => {
  expect(() => parsed({ version: 1, keys: [key] })).toThrow("has a key, number 1, that is not one");
});
