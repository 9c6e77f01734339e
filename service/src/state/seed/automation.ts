// The automation of a seed.
import type { FixtureAutomation } from "../fixture.js";
import { idsOf } from "./draw.js";

/** The automation of a seed, behind an HMAC listener: it says who has left. */
export function automation(seed: number, signingSecret: string, start: number): FixtureAutomation {
  const idOf = idsOf(seed);
  return {
    id: idOf("automation"),
    displayName: "User left",
    listenerId: idOf("listener"),
    signingSecret,
    trigger: { hmac: {} },
    steps: [
      {
        name: "farewell",
        condition: "has(ctx.trigger.userId)",
        templates: { text: "{{ ctx.trigger.userId }} has left." },
      },
    ],
    createdAt: new Date(start).toISOString(),
  };
}
