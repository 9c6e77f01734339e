import { expect, it } from "vitest";
import { rememberLast } from "../../src/primitives/remember-last.js";

it("asks anew only when the text is another one than the last", () => {
  const asked: string[] = [];
  const length = rememberLast((text) => asked.push(text) && text.length);
  expect(["", "", "one", "one", "three", "one"].map(length)).toEqual([0, 0, 3, 3, 5, 3]);
  expect(asked).toEqual(["", "one", "three", "one"]);
});
