// Changes many dead letters in steps, with progress.
import type { Context } from "../command.js";
import { startProgress } from "../terminal/progress.js";

/** How many are changed at a time; an interruption takes effect between two steps. */
const STEP = 200;

/**
 * Changes `count` dead letters in steps, with a bar, and gives how many it changed: fewer where the user stops it, or
 * where another process was quicker.
 */
export async function inSteps(
  context: Context,
  count: number,
  change: (limit: number) => Promise<number>,
): Promise<number> {
  const progress = startProgress(context, count);
  let done = 0;
  try {
    while (done < count && !context.io.stopSignal.aborted) {
      const changed = await change(Math.min(STEP, count - done));
      if (changed === 0) break;
      done += changed;
      progress.advance(changed);
    }
  } finally {
    progress.finish();
  }
  return done;
}
