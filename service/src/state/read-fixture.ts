// Reads a fixture from YAML or JSON.
import { readFile } from "node:fs/promises";
import type { Document } from "yaml";
import type { Fixture } from "./fixture.js";
import { FixtureError, fixtureError, readFrom } from "./fixture-error.js";
import { fixtureMistakes, settledFixture } from "./fixture-mistakes.js";

/**
 * Reads a fixture from a YAML or JSON file and checks it against its schema, and that what refers to something else
 * refers to what is there.
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
  return parseFixture(await readFile(file, "utf8"), file);
}

/** A fixture from its text; `name` is what errors call it. */
export async function parseFixture(text: string, name = "fixture"): Promise<Fixture> {
  // Few starts need it.
  const { LineCounter, parseDocument } = await import("./yaml.js");
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
