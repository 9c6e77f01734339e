// Runs tables of mistakes on a request: rows that see their mistake, and rows that repeat it, the likeliest first.
import { type FoundMistake, inWords, type Mistake, type MistakeRow, type Option } from "./mistake.js";

/** The mistakes of a table that were made, in the table's order. */
export function mistakesFound<Facts>(rows: readonly FoundMistake<Facts>[], facts: Facts): readonly Mistake[] {
  return rows.flatMap((row) => {
    const seen = row.find(facts);
    if (seen === undefined || seen === false) return [];
    return [{ ...inWords(row), ...(typeof seen === "string" ? { message: seen } : {}) }];
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
export type Dimensions = Readonly<Record<string, readonly Option<unknown>[]>>;

/** One option of each dimension. */
export type Choice<Of extends Dimensions> = { readonly [Name in keyof Of]: Of[Name][number] };

/** Which choices are made. */
export interface Range {
  /** Choices up to this cost are left out; none by default. That of no mistake costs 0. */
  readonly above?: number;
  readonly upTo: number;
  /** Ends the search when it is spent. */
  readonly budget?: { readonly isSpent: boolean };
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
  { above = -1, upTo, budget }: Range,
): Iterable<Choice<Of>> {
  const entries = Object.entries(dimensions);
  const choice = Object.fromEntries(entries.map(([name, [right]]) => [name, right]));
  for (let cost = above + 1; cost <= upTo; cost++)
    for (const _ of choicesOfCost(entries, choice, 0, cost)) {
      if (budget?.isSpent) return;
      yield choice as Choice<Of>;
    }
}

function* choicesOfCost(
  dimensions: readonly (readonly [name: string, options: readonly Option<unknown>[]])[],
  choice: Record<string, Option<unknown> | undefined>,
  at: number,
  cost: number,
): Iterable<void> {
  if (cost === 0) yield;
  const dimension = dimensions[at];
  if (dimension === undefined || cost < CHEAPEST) return;
  yield* choicesOfCost(dimensions, choice, at + 1, cost);
  const [name, options] = dimension;
  for (const option of options) {
    const left = cost - COST_OF_EACH_MISTAKE - option.weight;
    if (option.weight === 0 || left < 0) continue;
    choice[name] = option;
    yield* choicesOfCost(dimensions, choice, at + 1, left);
  }
  choice[name] = options[0];
}

/** The mistakes of the first choice that `matches`; `undefined` if none does. */
export function firstMatch<Of extends Dimensions>(
  dimensions: Of,
  range: Range,
  matches: (choice: Choice<Of>) => boolean,
): readonly MistakeRow[] | undefined {
  for (const choice of choices(dimensions, range)) if (matches(choice)) return mistakesOf(choice);
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
