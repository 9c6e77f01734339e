// Finds what is wrong with a fixture in itself.
import { ApiError, type FieldViolation } from "../api/errors.js";
import { lenientBody } from "../api/lenient-body.js";
import { violationsOf } from "../api/validation.js";
import { halfPairs } from "../api/well-formed.js";
import { FIXTURE_VERSION, type Fixture } from "./fixture.js";
import { fixtureError, readFromSame } from "./fixture-error.js";
import { referenceProblems, type StoredIds } from "./fixture-references.js";
import { fixtureSchema } from "./fixture-schema.js";

/**
 * A fixture in the form that it is checked and loaded in: a field that is null counts as left out, and takes both
 * spellings, as in the body of an operation.
 *
 * @throws {FixtureError} for a field that stands in both spellings, a part that is part of itself, and another version
 */
export function settledFixture(fixture: Fixture): Fixture {
  const unreadable = formProblem(fixture);
  if (unreadable) throw fixtureError(fixture, [unreadable]);
  const schema = fixtureSchema();
  try {
    return readFromSame(fixture, lenientBody(fixture, schema, "", schema) as Fixture);
  } catch (error) {
    throw error instanceof ApiError ? fixtureError(fixture, error.violations) : error;
  }
}

/**
 * A fixture in that form, and of its schema; what refers to nothing is let be.
 *
 * @throws {FixtureError}
 */
export function shapedFixture(given: Fixture): Fixture {
  const fixture = settledFixture(given);
  const problems = violationsOf(fixture, fixtureSchema(), "fixture");
  if (problems.length > 0) throw fixtureError(fixture, problems);
  return fixture;
}

/** The same as in the body of an operation. */
const MAX_LEVELS = 500;

/** Why a fixture cannot be read at all: it is of another version, or has no end. */
function formProblem(fixture: Fixture): FieldViolation | undefined {
  const { version } = fixture;
  if (typeof version === "number" && version !== FIXTURE_VERSION)
    return {
      field: "version",
      description: `is ${version}, and this release reads version ${FIXTURE_VERSION}`,
    };
  return endless(fixture, "", 0, new Set(), new WeakMap());
}

/** The first part that is inside of itself or nested too deeply: both would be looked at without end. */
function endless(
  value: unknown,
  field: string,
  depth: number,
  around: Set<object>,
  seen: WeakMap<object, number>,
): FieldViolation | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if (around.has(value)) return { field, description: "is part of itself" };
  if (depth > MAX_LEVELS) return { field, description: `is nested deeper than ${MAX_LEVELS} levels` };
  // A file's aliases may stand in many places: each is looked at again only where it stands deeper than before.
  if ((seen.get(value) ?? -1) >= depth) return undefined;
  seen.set(value, depth);
  around.add(value);
  for (const [name, part] of Object.entries(value)) {
    const step = Array.isArray(value) ? `[${name}]` : field === "" ? name : `.${name}`;
    const found = endless(part, field + step, depth + 1, around, seen);
    if (found) return found;
  }
  around.delete(value);
  return undefined;
}

/** What is wrong with a fixture in itself: its shape first, then what refers to nothing. Automations are checked apart. */
export function fixtureMistakes(value: unknown, stored?: StoredIds): FieldViolation[] {
  const ofShape = violationsOf(value, fixtureSchema(), "fixture");
  if (ofShape.length > 0) return ofShape;
  const ofTexts = halfPairs(value, "fixture");
  return ofTexts.length > 0 ? ofTexts : referenceProblems(value as Fixture, stored);
}
