import { describeCode } from "hookproof/diagnose";
import { CHECKS, type CheckRule } from "hookproof/receiver";
import { factOf } from "../../src/core/facts.js";
import { markdownTable } from "../kit/markdown.js";

/** docs/checks.md, from the table that the receiver reads. */
export function checksPage(): string {
  return `${[
    "# The checks of a listener",
    "",
    "<!-- Made from src/receiver/all-checks.ts by `npm run generate`. -->",
    "",
    "A receiver of this library makes these checks in this order, and so does the local service. A listener makes those of its own method (HMAC or JWT) and those of both. The first check that fails decides the answer: no later one is made.",
    "",
    ...markdownTable([["", "step", "method", "what must hold", "otherwise", "from"], ...CHECKS.map(cellsOf)]),
    "",
    "When a check fails, its verdict (`fact`), `hookproof verify`, `listen` and the inspector say what was wrong:",
    "",
    ...markdownTable([["otherwise", "what is said"], ...facts()]),
    "",
    "- **step** is the name in a verdict (`verdict.checks`), in `hookproof verify` and in the inspector.",
    "- **otherwise** has the codes and their statuses; [errors.md](errors.md) says what to do about each.",
    "- **from** is a section of the [specification](specification.md), or a paragraph of the [decisions](decisions.md) (R, T) where the specification leaves it open.",
    "",
    "`verify` makes the checks up to `body`, which need no memory; `receive` and `handle` make all of them. `CHECKS` of `hookproof/receiver` is this table as data.",
  ].join("\n")}\n`;
}

/** What is said of each code, in the order of the checks; a code of several checks has the sentence of the first. */
function facts(): string[][] {
  const said = new Map<string, string>();
  for (const { rule, codes } of CHECKS)
    for (const code of codes) if (!said.has(code)) said.set(code, factOf(code, rule));
  return [...said].map(([code, fact]) => [`\`${code}\``, fact]);
}

function cellsOf({ number, step, scheme, rule, codes, sections }: CheckRule): string[] {
  return [
    String(number),
    `\`${step}\``,
    scheme === undefined ? "both" : scheme.toUpperCase(),
    rule,
    codes.map((code) => `${describeCode(code)?.status} \`${code}\``).join(", "),
    sections.join(", "),
  ];
}
