/**
 * Every choice of one option per dimension, cheapest first. Option 0 of a dimension is the right one and is
 * free; another one costs its weight and 2 more, so that every single mistake comes before the first pair. The choice without any mistake is left out.
 *
 * @param weights the weights of each dimension's options; the first of each is not looked at
 * @param maxCost choices that cost more are left out
 */
export function* combinations(
  weights: readonly (readonly number[])[],
  maxCost: number,
): Iterable<readonly number[]> {
  const choice = weights.map(() => 0);
  for (let cost = CHEAPEST; cost <= maxCost; cost++) yield* ofCost(weights, choice, 0, cost);
}

const COST_OF_ONE_MORE = 2;
const CHEAPEST = COST_OF_ONE_MORE + 1;

/** The same array is yielded each time, with other indexes in it. */
function* ofCost(
  weights: readonly (readonly number[])[],
  choice: number[],
  dimension: number,
  cost: number,
): Iterable<readonly number[]> {
  if (cost === 0) yield choice;
  const options = weights[dimension];
  if (options === undefined || cost < CHEAPEST) return;
  yield* ofCost(weights, choice, dimension + 1, cost);
  for (let index = 1; index < options.length; index++) {
    const left = cost - COST_OF_ONE_MORE - (options[index] ?? 0);
    if (left < 0) continue;
    choice[dimension] = index;
    yield* ofCost(weights, choice, dimension + 1, left);
  }
  choice[dimension] = 0;
}
