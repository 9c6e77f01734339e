/**
 * What comes of work that only its time limit ends. It begins anew with twice the time as long as that was too short for the
 * other side to notice it, so that it takes 50 ms on a quick machine and is right on a slow one.
 *
 * @param work gives undefined where the other side noticed nothing
 */
export async function lateResult<Result>(
  work: (timeoutMs: number) => Promise<Result | undefined>,
): Promise<Result> {
  for (let timeoutMs = 50; timeoutMs < 10_000; timeoutMs *= 2) {
    const result = await work(timeoutMs);
    if (result !== undefined) return result;
  }
  throw new Error("The other side noticed nothing of it.");
}
