// Delivery goes on in the model: on every endless path on which what can always be done is done.
import { describe, expect } from "vitest";
import { itWith } from "../kit/needs.js";
import { hasTools } from "../kit/outside-tool.js";
import { checked, MODEL } from "./checked.js";

const spin = hasTools("spin and gcc");
const PROPERTIES = ["progress", "lease", "pause", "key"];

describe("delivery goes on in the model, on every fair path of it", () => {
  itWith("spin and gcc", spin).each([
    ["one fault", 1],
    ["two faults", 2],
  ])(
    "ends both events, and brings on what a dead worker, a pause or its key held up, with %s",
    (_, faults) => {
      for (const report of checked(MODEL, faults, PROPERTIES)) {
        expect(report).toContain("(fairness enabled)");
        expect(report).toContain("errors: 0");
        expect(report).not.toContain("depth too small");
      }
    },
  );

  const broken: readonly (readonly [what: string, property: string, text: string, instead: string])[] = [
    [
      "a lease that never ends",
      "lease",
      "(owner[e] - 1) + e] == IDLE ->\n       live[e] = false",
      "(owner[e] - 1) + e] == IDLE && false ->\n       live[e] = false",
    ],
    [
      "claims that overlook a lease which has ended",
      "lease",
      "!live[e] && !paused && !aside[e] &&",
      "!live[e] && owner[e] == 0 && !paused && !aside[e] &&",
    ],
    [
      "a resume that leaves aside what was put there",
      "pause",
      "aside[0] = false; aside[1] = false; marked = false",
      "marked = false",
    ],
    [
      "a look that notes nowhere what it puts aside",
      "pause",
      "aside[e] = true; marked = true",
      "aside[e] = true",
    ],
    [
      "a delivery that passes its key on to nobody",
      "key",
      "state[e] = DELIVERED; freed(e); ended(e);",
      "state[e] = DELIVERED; freed(e);",
    ],
    ["an expiry that passes its key on to nobody", "key", "buried(e); ended(e); owner", "buried(e); owner"],
    ["a dropped dead letter that still holds its key", "key", "blocks = false; ended(0)", "blocks = false"],
  ];
  itWith("spin and gcc", spin).each(broken)("would see %s", (_what, property, text, instead) => {
    expect(MODEL.split(text)).toHaveLength(2);
    const mutant = MODEL.replace(text, () => instead);
    expect(checked(mutant, 1, [property])).toEqual([expect.stringContaining("acceptance cycle")]);
  });

  itWith("spin and gcc", spin)(
    "is more than the assertions show: they do not see a lease that never ends",
    () => {
      const [, , text = "", instead = ""] = broken[0] ?? [];
      const [report] = checked(
        MODEL.replace(text, () => instead),
        2,
        "assertions",
      );
      expect(report).toContain("errors: 0");
    },
  );
});
