import { readFile } from "node:fs/promises";
import type { Document } from "yaml";
import type { FieldViolation } from "../api/errors.js";
import { violationsOf } from "../api/validation.js";
import type { Fixture } from "./fixture.js";
import { referenceProblems } from "./fixture-references.js";
import { fixtureSchema } from "./fixture-schema.js";

/** A mistake in a fixture. */
export interface FixtureProblem extends FieldViolation {
  /** Counted from 1; absent where the place has none. */
  readonly line?: number | undefined;
}

/** A fixture that cannot be used. */
export class FixtureError extends Error {
  override readonly name = "FixtureError";
  readonly code = "FIXTURE_INVALID";
  readonly problems: readonly FixtureProblem[];

  constructor(file: string, problems: readonly FixtureProblem[]) {
    const [first] = problems;
    const place = first?.line === undefined ? file : `${file}:${first.line}`;
    super(`${place}: ${[first?.field, first?.description].filter(Boolean).join(" ")}`);
    this.problems = problems;
  }
}

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
  const { LineCounter, parseDocument } = await import("yaml");
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, strict: true });
  const [broken] = document.errors;
  if (broken) {
    const [summary = ""] = broken.message.split(" at line");
    throw new FixtureError(name, [
      { field: "", description: summary, line: lines.linePos(broken.pos[0]).line },
    ]);
  }
  const value = expanded(() => document.toJS() as unknown, name) ?? {};
  const problems = violationsOf(value, fixtureSchema(), "fixture");
  const found = problems.length > 0 ? problems : referenceProblems(value as Fixture);
  if (found.length === 0) return value as Fixture;
  throw new FixtureError(
    name,
    found.map((problem) => {
      const at = rangeOf(document, problem.field);
      return { ...problem, line: at === undefined ? undefined : lines.linePos(at).line };
    }),
  );
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
