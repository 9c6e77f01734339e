import { badRequest, completed, violationsOf } from "../api/validation.js";
import { anyReceiver, checkAutomation, problemsOf } from "../automations/check-automation.js";
import { completeAutomation, type SaveContext } from "../automations/save-automation.js";
import { inputOf } from "../routes/automations.js";
import type { StoredAutomation } from "../storage/automations.js";
import { instant } from "../storage/document.js";
import type { Fixture, FixtureAutomation } from "./fixture.js";
import { referenceProblems } from "./fixture-references.js";
import { fixtureSchema } from "./fixture-schema.js";

/**
 * Refuses a fixture with mistakes, wherever it came from: one that is handed over as an object was never read from a
 * file.
 *
 * @throws {ApiError} with the path of every field that is wrong
 */
export async function refuseFixtureMistakes(
  fixture: Fixture,
  { expressions, keySets }: Pick<SaveContext, "expressions" | "keySets">,
): Promise<void> {
  const { automations = [] } = fixture;
  if (Object.keys(fixture).length > 0) {
    const problems = violationsOf(fixture, fixtureSchema(), "fixture");
    const found = problems.length > 0 ? problems : referenceProblems(fixture);
    if (found.length > 0) throw badRequest(found);
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
    if (problems.length > 0)
      throw badRequest(problems.map((one) => ({ ...one, field: `automations[${index}].${one.field}` })));
  }
}

/** An automation of a fixture as it is kept. */
export function automationOf(given: FixtureAutomation, now: number): StoredAutomation {
  const { id, listenerId, signingSecret: hmacSecret, createdAt } = given;
  const at = createdAt === undefined ? now : instant(createdAt);
  return completeAutomation(inputOf(given), { id, listenerId, hmacSecret, createdAt: at }, now);
}
