import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { EXAMPLES } from "../kit/example-process.js";

const PAGE = new URL("../../docs/guides/security-event-tokens.md", import.meta.url);

it("security-events.mjs sends an event, and prints what its page says", () => {
  const printed = execFileSync(process.execPath, [join(EXAMPLES, "security-events.mjs")], {
    encoding: "utf8",
  });
  expect(readFileSync(PAGE, "utf8")).toContain(`\`\`\`\n${printed}\`\`\``);
});
