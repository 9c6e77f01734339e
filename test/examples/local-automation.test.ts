import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, it } from "vitest";

it("examples/local-automation.mjs prints what the steps gave, and ends", async () => {
  const args = ["examples/local-automation.mjs"];
  const { stdout, stderr } = await promisify(execFile)(process.execPath, args, {
    cwd: new URL("../..", import.meta.url),
  });
  expect(stdout.trim().split("\n")).toEqual([
    "accepted",
    'user STEP_STATUS_SUCCEEDED {"email":"ada@example.com"}',
    "tell_manager STEP_STATUS_SKIPPED ",
    'close STEP_STATUS_SUCCEEDED {"text":"Closed ada@example.com","days":30}',
  ]);
  expect(stderr).toBe("");
});
