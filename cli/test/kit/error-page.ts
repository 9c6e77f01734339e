import { describeCode, errorCodes } from "hookproof/diagnose";
import { COMMAND_LINE } from "../../src/explain/command-line.js";
import { findExplanation } from "../../src/explain/find-explanation.js";

/** The page docs/errors.md: what `hookproof explain` says of every code. */
export async function errorPage(): Promise<string> {
  const library = errorCodes();
  const isAnswer = (code: string) => describeCode(code)?.status !== undefined;
  return [
    "# Error codes",
    "",
    "What `hookproof explain <code>` says, made from the same tables by `npm run generate`; a test fails when it is stale. Codes are stable: a program may depend on them, and on the status a listener answers with.",
    "",
    "- [Answers of a listener](#answers-of-a-listener)",
    "- [The library](#the-library)",
    "- [The command line](#the-command-line)",
    "",
    "## Answers of a listener",
    "",
    ...(await entries(library.filter(isAnswer))),
    "## The library",
    "",
    ...(await entries(library.filter((code) => !isAnswer(code)))),
    "## The command line",
    "",
    ...(await entries(Object.keys(COMMAND_LINE))),
  ].join("\n");
}

async function entries(codes: readonly string[]): Promise<string[]> {
  return (await Promise.all(codes.map(entry))).flat();
}

async function entry(code: string): Promise<string[]> {
  const described = describeCode(code);
  const found = await findExplanation(code);
  const [cause, fix] = found?.explanation ?? [];
  return [
    `### ${code}`,
    "",
    ...(described ? [described.message, ""] : []),
    ...(described?.status === undefined ? [] : [`- Status: ${described.status}`]),
    `- Cause: ${escaped(cause)}`,
    `- Fix: ${escaped(fix)}`,
    `- Such as: ${escaped(found?.example)}`,
    "",
  ];
}

/** Text as Markdown shows it, and not what it would make of it. */
function escaped(text = ""): string {
  return text.replace(/[<>*_[\]]/g, "\\$&");
}
