// Finds what is wrong with a fixture in itself.
import { ApiError, type FieldViolation } from "../api/errors.js";
import { lenientBody } from "../api/lenient-body.js";
import { violationsOf } from "../api/validation.js";
import { halfPairs } from "../api/well-formed.js";
import type { Fixture } from "./fixture.js";
import { fixtureError, readFromSame } from "./fixture-error.js";
import { referenceProblems, type StoredIds } from "./fixture-references.js";
import { fixtureSchema } from "./fixture-schema.js";

/**
 * A fixture in the form that it is checked and loaded in: a field that is null counts as left out, and takes both
 * spellings, as in the body of an operation.
 *
 * @throws {FixtureError} for a field that stands in both spellings
 */
export function settledFixture(fixture: Fixture): Fixture {
  const schema = fixtureSchema();
  try {
    return readFromSame(fixture, lenientBody(fixture, schema, "", schema) as Fixture);
  } catch (error) {
    throw error instanceof ApiError ? fixtureError(fixture, error.violations) : error;
  }
}

/** What is wrong with a fixture in itself: its shape first, then what refers to nothing. Automations are checked apart. */
export function fixtureMistakes(value: unknown, stored?: StoredIds): FieldViolation[] {
  const ofShape = violationsOf(value, fixtureSchema(), "fixture");
  if (ofShape.length > 0) return ofShape;
  const ofTexts = halfPairs(value, "fixture");
  return ofTexts.length > 0 ? ofTexts : referenceProblems(value as Fixture, stored);
}
