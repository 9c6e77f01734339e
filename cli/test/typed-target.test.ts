import { describe, expect, it } from "vitest";
import { storableTarget, typedUrl } from "../src/credentials/typed-target.js";

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
];

describe("--forward-to", () => {
  it.each([
    ["3000", "http://localhost:3000"],
    [":3000", "http://localhost:3000"],
    ["localhost:3000/webhook", "http://localhost:3000/webhook"],
    ["127.0.0.1:81/x", "http://127.0.0.1:81/x"],
    ["[::1]:81/x", "http://[::1]:81/x"],
    ["app.example/x", "https://app.example/x"],
    ["HTTPS://App.example/x?y=1", "HTTPS://App.example/x?y=1"],
  ])("takes %s", (given, url) => {
    expect(typedUrl(given, "--forward-to")).toBe(url);
  });

  it.each(NO_URL)("refuses %j", (given) => {
    expect(() => typedUrl(given, "--forward-to")).toThrow(expect.objectContaining({ code: "USAGE" }));
  });
});

describe("a target that is stored", () => {
  it.each([":4400", "https://h.example/p", "http://localhost:1/p"])("is %s as it is given", (given) => {
    expect(storableTarget(given, "--target")).toBe(given);
  });

  it.each(NO_URL)("is not %j", (given) => {
    expect(() => storableTarget(given, "--target")).toThrow(expect.objectContaining({ code: "USAGE" }));
  });
});
