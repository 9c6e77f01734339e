// Runs tables of mistakes: rows that see their mistake, and rows that repeat it, the likeliest first.
import {
  type FoundMistake,
  type Mistake,
  type MistakeRow,
  type Option,
  withoutFunctions,
} from "./mistake.js";

/** The mistakes of a table that were made, in the table's order. */
export function mistakesFound<Facts>(rows: readonly FoundMistake<Facts>[], facts: Facts): readonly Mistake[] {
  return rows.flatMap((row) => {
    const seen = row.find(facts);
    if (seen === undefined || seen === false) return [];
    return [{ ...withoutFunctions(row), ...(typeof seen === "string" ? { message: seen } : {}) }];
  });
}

/** The first mistake of a table that was made: for tables in which one says all that there is to say. */
export function firstFound<Facts>(rows: readonly FoundMistake<Facts>[], facts: Facts): readonly Mistake[] {
  for (const row of rows) {
    const found = mistakesFound([row], facts);
    if (found.length > 0) return found;
  }
  return [];
}

/** What can be done wrongly, by name, such as `key`; the first option of each is the right one. */
type Dimensions = Readonly<Record<string, readonly Option<unknown>[]>>;

/** One option of each dimension. */
export type Choice<Of extends Dimensions> = { readonly [Name in keyof Of]: Of[Name][number] };

/** Which choices are made. */
interface Range {
  /** Choices up to this cost are left out; none by default. That of no mistake costs 0. */
  readonly above?: number;
  readonly upTo: number;
}

const COST_OF_EACH_MISTAKE = 2;

const CHEAPEST = COST_OF_EACH_MISTAKE + 1;

/** What a choice with one mistake costs, where all have the weight 1; with several it costs as many times this. */
export const ONE_MISTAKE = CHEAPEST;

/**
 * Every choice of one option per dimension, the likeliest first. The right option is free; any other costs its weight
 * plus 2, so that all single mistakes come before the first pair. Yields the same object each time, with other options
 * in it.
 */
export function* choices<Of extends Dimensions>(
  dimensions: Of,
  { above = -1, upTo }: Range,
): Iterable<Choice<Of>> {
  const entries = Object.entries(dimensions);
  const choice = Object.fromEntries(entries.map(([name, [right]]) => [name, right])) as Choice<Of>;
  // A list of numbers is walked much faster than one of options.
  const weighed = entries.map(([name, options]) => ({
    name,
    options,
    weights: options.map(({ weight }) => weight),
  }));
  for (let cost = above + 1; cost <= upTo; cost++) yield* choicesOfCost(weighed, choice, cost);
}

interface Weighed {
  readonly name: string;
  readonly options: readonly Option<unknown>[];
  readonly weights: readonly number[];
}

/** Walks the dimensions as an odometer does: a generator within each would pass every choice up through all of them. */
function* choicesOfCost<Chosen extends Record<string, Option<unknown> | undefined>>(
  dimensions: readonly Weighed[],
  choice: Chosen,
  cost: number,
): Iterable<Chosen> {
  const chosen: Record<string, Option<unknown> | undefined> = choice;
  const places = dimensions.map(() => -1);
  const left = [cost];
  for (let at = 0; at >= 0; ) {
    const dimension = dimensions[at];
    const here = left[at] ?? 0;
    if (dimension === undefined || here < CHEAPEST) {
      if (here === 0) yield choice;
      at -= 1;
      continue;
    }
    const { name, options, weights } = dimension;
    const place = (places[at] ?? 0) + 1;
    if (place === weights.length) {
      chosen[name] = options[0];
      places[at] = -1;
      at -= 1;
      continue;
    }
    places[at] = place;
    const next = place === 0 ? here : here - COST_OF_EACH_MISTAKE - (weights[place] ?? 0);
    if (next < 0) continue;
    chosen[name] = options[place];
    at += 1;
    left[at] = next;
  }
}

/** The mistakes of the first choice that `matches`; `undefined` if none does before the budget is spent. */
export function firstMatch<Of extends Dimensions>(
  dimensions: Of,
  { budget, ...range }: Range & { readonly budget?: { readonly isSpent: boolean } },
  matches: (choice: Choice<Of>) => boolean,
): readonly MistakeRow[] | undefined {
  for (const choice of choices(dimensions, range)) {
    if (budget?.isSpent) return undefined;
    if (matches(choice)) return mistakesOf(choice);
  }
  return undefined;
}

/** The mistakes that are made together in a choice, in the order of its dimensions. */
export function mistakesOf(choice: Readonly<Record<string, Option<unknown>>>): readonly MistakeRow[] {
  return Object.values(choice).flatMap(({ mistake }) => mistake ?? []);
}

/** The dimensions with these names; of all others the right option alone. */
export function only<Of extends Dimensions>(dimensions: Of, names: readonly (keyof Of)[]): Of {
  const kept = Object.entries(dimensions).map(([name, options]) => [
    name,
    names.includes(name) ? options : options.slice(0, 1),
  ]);
  return Object.fromEntries(kept) as Of;
}
