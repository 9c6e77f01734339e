// Why a fixture or state cannot be used, with file and line.
import type { FieldViolation } from "../api/errors.js";
import type { Fixture } from "./fixture.js";

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
    const words = [first?.field, first?.description].flatMap((text) => (text ? shortened(text) : []));
    super(inert(`${place}: ${words.join(" ")}`));
    this.problems = problems;
  }
}

const MAX = 300;

/** A name out of a file may be as long as the file. */
function shortened(text: string): string {
  return text.length > MAX ? `${text.slice(0, MAX).replace(/[\uD800-\uDBFF]$/, "")}…` : text;
}

/** A sentence with names out of a file, in which what steers a terminal is written as JSON escapes it. */
function inert(text: string): string {
  const escaped = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu, (one) =>
    one.split("").map(escaped).join(""),
  );
}

/** Where a fixture was read from. */
interface FixtureSource {
  readonly file: string;
  /** The line of a field, or of the nearest thing around it. */
  lineOf(field: string): number | undefined;
}

const sources = new WeakMap<Fixture, FixtureSource>();

/** Remembers where a fixture was read from, for mistakes that show when it is loaded: an expression, a key set's URL. */
export function readFrom(source: FixtureSource, fixture: Fixture): Fixture {
  sources.set(fixture, source);
  return fixture;
}

/** The same place for a copy of a fixture. */
export function readFromSame(fixture: Fixture, copy: Fixture): Fixture {
  const source = sources.get(fixture);
  return source ? readFrom(source, copy) : copy;
}

/** The error for mistakes of a fixture, with file and line where it was read from a file. */
export function fixtureError(fixture: Fixture, problems: readonly FieldViolation[]): FixtureError {
  const source = sources.get(fixture);
  const placed = problems.map((one) => ({ ...one, line: source?.lineOf(one.field) }));
  return new FixtureError(source?.file ?? "fixture", placed);
}
