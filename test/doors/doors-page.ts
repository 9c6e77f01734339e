// docs/doors.md, from the table of doors.
import { markdownTable } from "../kit/markdown.js";
import { DOORS } from "./doors.js";

export function doorsPage(): string {
  return `${[
    "# What a stranger's bytes may cost",
    "",
    "<!-- Made from test/doors/doors.ts by `npm run generate`. -->",
    "",
    "Every door by which bytes of somebody else's come in, what bounds them before work is done for them, and the most that one request, line, answer or file causes. Each row names the tests that measure it: they count the work, or take time of the processor next to a known work. Milliseconds are those of a processor of 2026.",
    "",
    ...markdownTable([
      ["door", "takes", "bounds", "the most work of one", "measured by"],
      ...DOORS.map(({ door, takes, bounds, most, measured }) => [
        door,
        takes,
        bounds,
        most,
        [...new Set(measured.map(([file]) => `\`${file}\``))].join(", "),
      ]),
    ]),
    "",
    "How many may come at once is the matter of what stands in front: a gateway's limits, or the platform's. What is left as it is, with reasons: [decisions](decisions.md#left-as-it-is).",
  ].join("\n")}\n`;
}
