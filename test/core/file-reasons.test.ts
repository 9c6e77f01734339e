import { constants } from "node:os";
import { expect, it } from "vitest";
import { reasonOf } from "../../cli/src/files/files.js";
import { fileFailure } from "../../src/core/file-failures.js";

/** The command looks for what is there, and the library makes a file in a folder. */
const MISSING = { ENOENT: ["there is no such folder", "there is no such file or folder"] };

it("why the system refused a file is said in the same words by the library and on the command line", () => {
  const codes = Object.keys(constants.errno).filter((code) => !fileFailure({ code }).endsWith(code));
  expect(codes.length).toBeGreaterThan(10);
  const differ = codes.filter((code) => fileFailure({ code }) !== reasonOf({ code }));
  expect(
    Object.fromEntries(differ.map((code) => [code, [fileFailure({ code }), reasonOf({ code })]])),
  ).toEqual(MISSING);
});
