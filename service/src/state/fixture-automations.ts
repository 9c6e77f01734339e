// Checks and keeps the automations of a fixture.
import { completed } from "../api/validation.js";
import { inputOf } from "../automations/automation.js";
import { anyReceiver, checkAutomation, problemsOf } from "../automations/check-automation.js";
import { completeAutomation, type SaveContext } from "../automations/save-automation.js";
import type { StoredAutomation } from "../storage/automations.js";
import { instant } from "../storage/document.js";
import type { Fixture, FixtureAutomation } from "./fixture.js";
import { fixtureError } from "./fixture-error.js";
import { fixtureMistakes } from "./fixture-mistakes.js";
import type { StoredIds } from "./fixture-references.js";

/**
 * Refuses a fixture with mistakes, wherever it came from: one that is handed over as an object was never read from a
 * file.
 *
 * @throws {FixtureError} with the path of every field that is wrong, and its line if the fixture was read from a file
 */
export async function refuseFixtureMistakes(
  fixture: Fixture,
  { expressions, keySets }: Pick<SaveContext, "expressions" | "keySets">,
  stored?: StoredIds,
): Promise<void> {
  const { automations = [] } = fixture;
  if (Object.keys(fixture).length > 0) {
    const problems = fixtureMistakes(fixture, stored);
    if (problems.length > 0) throw fixtureError(fixture, problems);
  }
  for (const [index, automation] of automations.entries()) {
    const input = inputOf(completed("AutomationInput", { ...automation }));
    const { listenerId, signingSecret } = automation;
    const problems = [
      ...problemsOf("listenerId", () => anyReceiver({ id: listenerId ?? "any" })),
      ...problemsOf("signingSecret", () =>
        anyReceiver({ auth: { method: "hmac", secret: signingSecret ?? "any" } }),
      ),
      ...(await checkAutomation(input, expressions, keySets)),
    ];
    const placed = problems.map((one) => ({ ...one, field: `automations[${index}].${one.field}` }));
    if (placed.length > 0) throw fixtureError(fixture, placed);
  }
}

/** An automation of a fixture as it is kept. */
export function automationOf(given: FixtureAutomation, now: number): StoredAutomation {
  const { id, listenerId, signingSecret: hmacSecret, createdAt, updatedAt } = given;
  const at = createdAt === undefined ? now : instant(createdAt);
  const changed = updatedAt === undefined ? now : instant(updatedAt);
  return completeAutomation(inputOf(given), { id, listenerId, hmacSecret, createdAt: at }, changed);
}
