// Writes a fixture as YAML, so that a small change is a small difference.
import type { Fixture } from "./fixture.js";

/**
 * A fixture as YAML: one member on a line, nothing folded, everything in the order in which it is given. What
 * `exportState` and `exportDatabase` give comes in one order, so that the same state is the same text.
 *
 * @example
 * ```ts
 * import { writeFileSync } from "node:fs";
 * import { exportDatabase, formatFixture } from "hookproof-service";
 *
 * writeFileSync("team.yaml", await formatFixture(await exportDatabase({ db: "service.db" })));
 * ```
 */
export async function formatFixture(fixture: Fixture): Promise<string> {
  // Few programs need it.
  const { stringify } = await import("./yaml.js");
  return stringify(fixture, { lineWidth: 0, aliasDuplicateObjects: false });
}
