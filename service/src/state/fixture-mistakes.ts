// Finds what is wrong with a fixture in itself.
import type { FieldViolation } from "../api/errors.js";
import { violationsOf } from "../api/validation.js";
import { halfPairs } from "../api/well-formed.js";
import type { Fixture } from "./fixture.js";
import { referenceProblems, type StoredIds } from "./fixture-references.js";
import { fixtureSchema } from "./fixture-schema.js";

/** What is wrong with a fixture in itself: its shape first, then what refers to nothing. Automations are checked apart. */
export function fixtureMistakes(value: unknown, stored?: StoredIds): FieldViolation[] {
  const ofShape = violationsOf(value, fixtureSchema(), "fixture");
  if (ofShape.length > 0) return ofShape;
  const ofTexts = halfPairs(value, "fixture");
  return ofTexts.length > 0 ? ofTexts : referenceProblems(value as Fixture, stored);
}
