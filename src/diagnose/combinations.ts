/**
 * Every choice of one option per dimension, cheapest first. Option 0 of a dimension is the right one and is
 * free; another one costs its weight and 1 more, so that one far-fetched mistake comes before two, and two
 * before three. The choice without any mistake is left out.
 *
 * @param weights the weights of each dimension's options; the first of each is not looked at
 * @param maxCost choices that cost more are left out
 */
export function* combinations(
  weights: readonly (readonly number[])[],
  maxCost: number,
): Iterable<readonly number[]> {
  const choice = weights.map(() => 0);
  for (let cost = 2; cost <= maxCost; cost++) yield* ofCost(weights, choice, 0, cost);
}

/** The same array is yielded each time, with other indexes in it. */
function* ofCost(
  weights: readonly (readonly number[])[],
  choice: number[],
  dimension: number,
  cost: number,
): Iterable<readonly number[]> {
  if (cost === 0) yield choice;
  const options = weights[dimension];
  // The cheapest mistake costs 2, so 1 cannot be spent.
  if (options === undefined || cost < 2) return;
  yield* ofCost(weights, choice, dimension + 1, cost);
  for (let index = 1; index < options.length; index++) {
    const left = cost - 1 - (options[index] ?? 0);
    if (left < 0) continue;
    choice[dimension] = index;
    yield* ofCost(weights, choice, dimension + 1, left);
  }
  choice[dimension] = 0;
}
