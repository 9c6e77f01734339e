import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

it("a deep token header is 401 where the stack is small, however deep it is", () => {
  const program = fileURLToPath(new URL("small-stack-process.mjs", import.meta.url));
  const printed = execFileSync(process.execPath, ["--stack-size=400", program], { encoding: "utf8" });
  const { statuses, codes } = JSON.parse(printed) as { statuses: number[]; codes: string[] };
  expect(statuses).toEqual([401]);
  expect(codes).toEqual(["TOKEN_HEADER_REFUSED"]);
});
