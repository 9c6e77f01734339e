// Reads a fixture from YAML or JSON.
import { readFile } from "node:fs/promises";
import type { Document } from "yaml";
import type { Fixture } from "./fixture.js";
import { FixtureError, fixtureError, readFrom } from "./fixture-error.js";
import { fixtureMistakes, settledFixture } from "./fixture-mistakes.js";

/** What fits into the memory of a process as Node starts it: YAML's tree is many times its text, by its parts more than by its length. */
const MAX_CHARACTERS = 16 * 1024 * 1024;
const MAX_TOKENS = 3_000_000;

/**
 * Reads a fixture from a YAML or JSON file and checks it against its schema, and that what refers to something else
 * refers to what is there. A file of more than 16 MiB, or of 3 million
 * words and signs, is refused.
 *
 * @throws {FixtureError} with the line and the path of the field; the file system's error if it cannot be read
 *
 * @example
 * ```ts
 * import { createService, readFixture } from "hookproof-service";
 *
 * await using service = await createService({ fixture: await readFixture("fixture.yaml") });
 * ```
 */
export async function readFixture(file: string): Promise<Fixture> {
  return parseFixture(textOf(await readFile(file), file), file);
}

/** Without a byte order mark; what is no UTF-8 would be state that nobody wrote. */
function textOf(bytes: Uint8Array, file: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    const description = "is not UTF-8: save it as UTF-8, as PowerShell 5 does not with >";
    throw new FixtureError(file, [{ field: "", description, line: 1 }]);
  }
}

/** A fixture from its text; `name` is what errors call it. */
export async function parseFixture(text: string, name = "fixture"): Promise<Fixture> {
  // Few starts need it.
  const { Lexer, LineCounter, parseDocument } = await import("./yaml.js");
  if (text.length > MAX_CHARACTERS) throw tooLarge(name, "16 MiB");
  let tokens = 0;
  for (const _ of new Lexer().lex(text))
    if (++tokens > MAX_TOKENS) throw tooLarge(name, "3 million words and signs");
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, strict: true });
  const [broken] = document.errors;
  if (broken) {
    const [said = ""] = broken.message.split(" at line");
    const summary = said.startsWith("Maximum call stack") ? "is nested too deeply" : said;
    throw new FixtureError(name, [
      { field: "", description: summary, line: lines.linePos(broken.pos[0]).line },
    ]);
  }
  const value = expanded(() => document.toJS() as unknown, name) ?? {};
  // A text or a number alone, as a file that is no fixture has it.
  if (typeof value !== "object")
    throw new FixtureError(name, [{ field: "", description: "must be an object", line: 1 }]);
  const given = readFrom(
    {
      file: name,
      lineOf(field) {
        const at = rangeOf(document, field);
        return at === undefined ? undefined : lines.linePos(at).line;
      },
    },
    value as Fixture,
  );
  const fixture = settledFixture(given);
  const problems = fixtureMistakes(fixture);
  if (problems.length > 0) throw fixtureError(fixture, problems);
  return fixture;
}

function tooLarge(name: string, bound: string): FixtureError {
  return new FixtureError(name, [
    { field: "", description: `has more than ${bound}, too much for a fixture` },
  ]);
}

/** Aliases that would grow without end are refused when they are expanded. */
function expanded(expand: () => unknown, name: string): unknown {
  try {
    return expand();
  } catch (error) {
    throw new FixtureError(name, [{ field: "", description: (error as Error).message }]);
  }
}

/** Where a field, or the nearest thing around it, begins. */
function rangeOf(document: Document.Parsed, field: string): number | undefined {
  const path = field.split(/[.[\]]+/).filter(Boolean);
  for (let length = path.length; length > 0; length--) {
    const steps = path.slice(0, length).map((step) => (/^[0-9]+$/.test(step) ? Number(step) : step));
    const node = document.getIn(steps, true) as { range?: [number, number, number] } | undefined;
    if (node?.range) return node.range[0];
  }
  return undefined;
}
