// The short form's check: has a ratio fallen from the kept results? Ratios travel between machines only roughly, so it
// is made where the kept results were measured: on the same processor, with the same version of Node.
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** How much of a kept ratio may be lost before it counts as a fall. */
const MAX_LOST = 0.15;

/**
 * By how much the references' own rates may differ from the kept ones. Machines of clouds all call their processor by one
 * name; where a reference of the question is slower or quicker than this, it is another machine. One alone may be as quick
 * by chance: bare jose waits for threads, and node:crypto for the processor.
 */
const MAX_APART = 0.1;

/** The kept answers of a bench that were measured on such a machine; nothing where there are none. */
export function keptAnswers(name, machine) {
  let kept;
  try {
    kept = JSON.parse(readFileSync(join(import.meta.dirname, "results", `${name}.json`), "utf8"));
  } catch (error) {
    if (error.code === "ENOENT") return undefined;
    throw error;
  }
  const isSame = ["node", "cpu", "cores"].every((name) => kept.machine[name] === machine[name]);
  return isSame ? kept.answers : undefined;
}

/**
 * The ratios that are bad, each with a name and with words: worse than half its goal; or so many rounds below the kept
 * ratio that the median cannot be but more than 15 % below the lower quartile of the kept rounds.
 *
 * @param {{ question: string, results?: Record<string, { perSecond: number }>,
 *   ratios: { of: string, to: string, goal?: number, ratio: number, high: number, rounds?: number[] }[] }} answer
 * @param {object[] | undefined} kept the answers of `keptAnswers`
 */
export function fallenRatios({ question, ratios, results }, kept) {
  const known = kept?.find((answer) => answer.kind === "rates" && answer.question === question);
  const isAsQuick = ({ to }) => {
    const [now, then] = [results, known?.results].map((rates) => rates?.[to]?.perSecond);
    return now === undefined || then === undefined || Math.abs(now / then - 1) <= MAX_APART;
  };
  const before = known?.ratios.every(isAsQuick) ? known.ratios : [];
  return ratios.flatMap(({ of, to, goal = 0, ratio, high, rounds }) => {
    const name = `${question}: ${of} of ${to}`;
    if (ratio < goal / 2) return { name, words: `${ratio.toFixed(2)}, less than half of the goal ${goal}` };
    const was = before.find((one) => one.of === of && one.to === to);
    const most = rounds ? mostOfMedian(rounds) : high;
    if (!was || most >= was.low * (1 - MAX_LOST)) return [];
    return {
      name,
      words: `${ratio.toFixed(2)} (at most ${most.toFixed(2)}), was ${was.ratio} (from ${was.low})`,
    };
  });
}

/** What the median of such rounds is at most, in 39 of 40 cases: by how many of them may lie above it by chance. */
function mostOfMedian(rounds) {
  const sorted = [...rounds].sort((a, b) => a - b);
  const rank = Math.ceil((rounds.length + 1.96 * Math.sqrt(rounds.length)) / 2);
  return sorted[Math.min(rank, rounds.length) - 1];
}
