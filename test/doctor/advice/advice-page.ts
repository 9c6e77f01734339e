import { markdownTable } from "../../kit/markdown.js";
import { type Advice, allAdvice } from "./advice.js";
import { runBy } from "./run-by.js";

const KINDS: Readonly<Record<Advice["kind"], string>> = {
  mistake: "mistakes of requests",
  change: "changes on the way",
  probe: "probes",
  code: "codes",
  status: "statuses",
  exit: "exit codes",
};
const STATES = { run: "run by a test", words: "words alone", open: "not run yet" } as const;

/** docs/advice.md: every advice, and the test that does what it says. */
export async function advicePage(): Promise<string> {
  const rows = (await allAdvice()).map((advice) => ({ advice, run: runBy(advice) }));
  const kinds = Object.keys(KINDS) as Advice["kind"][];
  const count = (kind: Advice["kind"], state?: string) =>
    String(rows.filter((row) => row.advice.kind === kind && (!state || row.run.state === state)).length);
  return `${[
    "# Every advice, and the test that runs it",
    "",
    "<!-- Made from test/doctor/advice by `npm run generate`. -->",
    "",
    "What the doctor and the command line say is to be done. Where an advice has code, a test runs that code as it is printed, in its own language (that of Java, Go, C#, Rust and C is compiled), and sees that a listener of the default scheme accepts what it makes; where requests with the mistake are kept (`vectors/mistakes.json`), it sees the request refused first. Where it has a command, the command is typed as it is printed, next to a local listener, and succeeds; of most codes the whole story is played: who makes the mistake gets the code, and who does what the fix says gets on (`run-stories`). For a probe, a listener with the bug fails it and the same listener without passes.",
    "",
    ...markdownTable([
      ["", "all", ...Object.values(STATES)],
      ...kinds.map((kind) => [
        KINDS[kind],
        count(kind),
        ...Object.keys(STATES).map((state) => count(kind, state)),
      ]),
    ]),
    "",
    ...kinds.flatMap((kind) => [
      `## ${(KINDS[kind][0] ?? "").toUpperCase()}${KINDS[kind].slice(1)}`,
      "",
      ...markdownTable([
        ["advice", "run by"],
        ...rows
          .filter((row) => row.advice.kind === kind)
          .map(({ advice, run }) => [
            `\`${advice.id}\`${advice.scheme === undefined ? "" : ` (${advice.scheme})`}`,
            (run.by || STATES[run.state]).replaceAll("|", "\\|"),
          ]),
      ]),
      "",
    ]),
  ]
    .join("\n")
    .trimEnd()}\n`;
}
