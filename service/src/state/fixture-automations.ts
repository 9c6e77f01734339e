import { badRequest, completed } from "../api/validation.js";
import { anyReceiver, checkAutomation, problemsOf } from "../automations/check-automation.js";
import { completeAutomation, type SaveContext } from "../automations/save-automation.js";
import { inputOf } from "../routes/automations.js";
import type { StoredAutomation } from "../storage/automations.js";
import type { FixtureAutomation } from "./fixture.js";

/** Refuses automations with mistakes. @throws {ApiError} with the path of every field that is wrong */
export async function refuseFixtureMistakes(
  automations: readonly FixtureAutomation[],
  { expressions, keySets }: Pick<SaveContext, "expressions" | "keySets">,
): Promise<void> {
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
  const at = createdAt === undefined ? now : Date.parse(createdAt);
  return completeAutomation(inputOf(given), { id, listenerId, hmacSecret, createdAt: at }, now);
}
