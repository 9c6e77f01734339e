import { markdownTable } from "../../kit/markdown.js";
import { STATEMENTS, type Statement } from "./statements.js";

/** docs/service-conformance.md, from the table of statements. */
export function conformancePage(): string {
  const sections = [...STATEMENTS];
  const all = sections.flatMap(([, statements]) => statements);
  const differing = all.filter(({ differs }) => differs !== undefined).length;
  let number = 0;
  const rowOf = ({ says, shown: [file, title], differs }: Statement) => {
    number += 1;
    const test = `[${file}](../test/service/${file}): ${cell(title)}`;
    return [String(number), cell(says), test, differs === undefined ? "holds" : `differs: ${cell(differs)}`];
  };
  return `${[
    "# The local service against its document",
    "",
    "<!-- Made from test/service/conformance/statements.ts by `npm run generate`. -->",
    "",
    `Every statement of the [specification](specification.md) about the service, in words of our own, with the test that shows it, nearly all of them over HTTP. Of ${all.length} statements ${all.length - differing} hold and ${differing} do not hold as they are written; what differs, and why, stands next to them. What the document leaves open is decided in [decisions.md](decisions.md) (†).`,
    "",
    "A title has `%s`, `%i` or `%j` where the test runs for each row of a table. A test makes sure that every test here exists under its title, and that no line of the specification that states something is left out.",
    ...sections.flatMap(([section, statements]) => [
      "",
      `## ${section === "" ? "Addresses" : `Section ${section}`}`,
      "",
      ...markdownTable([["", "statement", "shown by", "verdict"], ...statements.map(rowOf)]),
    ]),
  ].join("\n")}\n`;
}

const cell = (text: string) => text.replaceAll("|", "\\|");
