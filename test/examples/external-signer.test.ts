import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, it } from "vitest";

it("examples/external-signer.mjs signs in another process, and each event runs", async () => {
  const args = ["examples/external-signer.mjs"];
  const { stdout, stderr } = await promisify(execFile)(process.execPath, args, {
    cwd: new URL("../..", import.meta.url),
  });
  expect(stdout.trim().split("\n").sort()).toEqual([
    "accepted",
    "accepted",
    "accepted",
    "ran for u_1",
    "ran for u_2",
    "ran for u_3",
  ]);
  expect(stderr).toBe("");
});
