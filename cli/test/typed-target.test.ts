import { describe, expect, it } from "vitest";
import { storableTarget, typedUrl } from "../src/credentials/checked-url.js";

const NO_URL = [
  "http://[bad",
  "https://",
  "http:///x",
  "ftp://h.example/",
  "http://h:99999/",
  "word",
  "",
  ":0",
  ":99999",
  "http://h.example/#a",
  "http://u:hidden@h.example/",
  "http://u:hidden@h.example:99999/",
  "http://@h.example/",
  "http://h.example\\@other.example/",
  "http://h.example/a\tb",
  "http://h.example\n/a",
  "http://h.example/a ",
  "http://h.example\u00a0/",
  "http://h.example/\u0001",
  "http://h.example/\ud800",
];

/** Neither says what a URL's credentials are. */
const REFUSAL = expect.objectContaining({
  code: "USAGE",
  message: expect.not.stringContaining("hidden"),
});

describe("--forward-to", () => {
  it.each([
    ["3000", "http://localhost:3000"],
    [":3000", "http://localhost:3000"],
    ["localhost:3000/webhook", "http://localhost:3000/webhook"],
    ["127.0.0.1:81/x", "http://127.0.0.1:81/x"],
    ["[::1]:81/x", "http://[::1]:81/x"],
    ["app.example/x", "https://app.example/x"],
    ["HTTPS://App.example/x?y=1", "HTTPS://App.example/x?y=1"],
  ])("takes %s", async (given, url) => {
    expect(await typedUrl(given, "--forward-to")).toBe(url);
  });

  it.each([
    "https:/h.example/x",
    "https:h.example",
    "http:3000",
    "http//h.example/x",
    "HTTPS:/u:hidden@h.example",
  ])("says of %s that its slashes are missing", async (given) => {
    await expect(typedUrl(given, "--forward-to")).rejects.toEqual(REFUSAL);
    await expect(typedUrl(given, "--forward-to")).rejects.toThrow("two slashes");
  });

  it.each(NO_URL)("refuses %j", async (given) => {
    await expect(typedUrl(given, "--forward-to")).rejects.toEqual(REFUSAL);
  });
});

describe("a target that is stored", () => {
  it.each([":4400", "https://h.example/p", "http://localhost:1/p"])("is %s as it is given", async (given) => {
    expect(await storableTarget(given, "--target")).toBe(given);
  });

  it.each(NO_URL)("is not %j", async (given) => {
    await expect(storableTarget(given, "--target")).rejects.toEqual(REFUSAL);
  });
});
