import { expect, it } from "vitest";
import { decoded } from "../src/commands/jwt-inspect.js";

const segment = (text: string) => Buffer.from(text).toString("base64url");

it("a segment is an object that can be shown", () => {
  expect(decoded(segment('{"a":1}'), "header")).toEqual({ a: 1 });
  const deep = `{"a":${"[".repeat(9_000)}${"]".repeat(9_000)}}`;
  for (const text of ["[]", "null", "{", deep])
    expect(() => decoded(segment(text), "header"), text.slice(0, 9)).toThrow(
      "The token's header must be a JSON object in base64url that can be shown.",
    );
});
