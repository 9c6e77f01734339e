// The generated parts of docs/performance.md, made from bench/results/*.json and nothing else.
import { capacityTable, partitionTable } from "./capacity-table.mjs";
import { table } from "./markdown-table.mjs";
import { ROWS } from "./performance-rows.mjs";
import { glanceSvg, summary } from "./performance-summary.mjs";
import { svgOf } from "./plot.mjs";
import { amount } from "./reporting.mjs";

const BLOCK = /<!-- made from (\S+) -->\n[\s\S]*?<!-- end -->/g;

/**
 * The page with every block between `<!-- made from NAME -->` and `<!-- end -->` written anew. NAME is a bench, or
 * `summary`, `overview`, `past-one-machine` or `partitions`.
 *
 * @param {string} page
 * @param {Record<string, object>} results by the bench's name, as they are in bench/results
 */
export function pageFrom(page, results) {
  const made = { summary, overview, "past-one-machine": capacityTable, partitions: partitionTable };
  return page.replace(BLOCK, (_, name) => {
    const content = name in made ? made[name](results) : benchSection(name, results[name]);
    return `<!-- made from ${name} -->\n\n${content}\n\n<!-- end -->`;
  });
}

/** The plots of all results: the text of each file in docs/images/performance. */
export function plotsFrom(results) {
  const growths = Object.values(results).flatMap(({ answers }) =>
    answers.filter(({ kind }) => kind === "growth"),
  );
  const plots = growths.map((growth) => [`${growth.plot}.svg`, svgOf(growth)]);
  return Object.fromEntries([["at-a-glance.svg", glanceSvg(results)], ...plots]);
}

function overview(results) {
  const rows = ROWS.map(({ question, toReach, parts }) => {
    const goals = parts.flatMap(({ bench, only }) => goalsIn(results[bench], only));
    const commands = new Set(
      parts.map(({ bench }) => results[bench]?.command ?? `npm run bench -- ${bench}`),
    );
    const command = [...commands].map((one) => `\`${one}\``).join(", ");
    if (goals.length === 0) return [question, toReach, "not measured", "", command];
    const met = goals.filter(({ share }) => share >= 1).length;
    const [hardest] = goals.sort((a, b) => a.share - b.share);
    return [question, toReach, `${met} of ${goals.length}`, hardest.text, command];
  });
  return table(
    ["question", "to reach", "reached", "furthest from its goal, or closest to it", "command"],
    rows,
  );
}

/** Every goal of a bench: how much of it was reached, 1 or more when it was. */
function goalsIn(result, only = /./) {
  return (result?.answers ?? [])
    .filter(({ question }) => only.test(question))
    .flatMap((answer) => {
      const { kind, question, unit } = answer;
      if (kind === "rates")
        return answer.ratios
          .filter(({ goal }) => goal !== undefined)
          .map(({ of, to, goal, ratio, low, high }) => ({
            share: ratio / goal,
            text: `${question}: ${of} is **${two(ratio)}** (${two(low)} to ${two(high)}) of ${to}, goal ${goal}`,
          }));
      if (kind === "growth") return [];
      return Object.entries(answer.figures)
        .filter(([, { atMost }]) => atMost !== undefined)
        .map(([name, { value, low, high, atMost }]) => ({
          share: value === atMost ? 1 : atMost / value, // where nothing may be, 0 of 0
          text: `${question}: ${name} **${amount(value)} ${unit}**${low === undefined ? "" : ` (${amount(low)} to ${amount(high)})`}, goal at most ${amount(atMost)}`,
        }));
    });
}

function benchSection(name, result) {
  if (!result) return `Not measured: \`npm run bench -- ${name} --write\` has not been run.`;
  const { node, cpu, cores, memoryGb, date } = result.machine;
  const where = `\`${result.command}\`, on ${date}: Node ${node}, ${cores} cores (${cpu}), ${memoryGb} GB.`;
  const rates = result.answers.filter(({ kind }) => kind === "rates");
  const rest = result.answers.filter(({ kind }) => kind !== "rates");
  return [
    where,
    ...(rates.length > 0 ? [ratioTable(rates), rateTable(rates)] : []),
    ...rest.map(section),
  ].join("\n\n");
}

function ratioTable(answers) {
  const rows = answers.flatMap(({ question, ratios }) =>
    ratios.map(({ of, to, goal, ratio, low, high }) => [
      question,
      `${of} / ${to}`,
      two(ratio),
      `${two(low)} to ${two(high)}`,
      goal ?? "",
      goal === undefined ? "" : ratio >= goal ? "yes" : "**no**",
    ]),
  );
  return table(["", "ratio of", "measured", "middle half", "goal", "reached"], rows);
}

function rateTable(answers) {
  const costs = answers.some(({ results }) => Object.values(results).some(({ cpuMicros }) => cpuMicros));
  const rows = answers.flatMap(({ question, results }) =>
    Object.entries(results).map(([name, { perSecond, low, high, cpuMicros, rssMegabytes }]) => [
      question,
      name,
      amount(perSecond),
      `${amount(low)} to ${amount(high)}`,
      ...(costs ? [cpuMicros === undefined ? "" : amount(cpuMicros), rssMegabytes ?? ""] : []),
    ]),
  );
  const head = ["", "case", "a second", "middle half", ...(costs ? ["µs CPU each", "MB"] : [])];
  return `<details><summary>The rates behind the ratios</summary>\n\n${table(head, rows)}\n\n</details>`;
}

function section(answer) {
  return answer.kind === "growth" ? growthSection(answer) : figureTable(answer);
}

function figureTable({ question, unit, figures }) {
  const rows = Object.entries(figures).map(([name, { value, low, high, atMost }]) => [
    name,
    amount(value),
    low === undefined ? "" : `${amount(low)} to ${amount(high)}`,
    atMost === undefined ? "" : `at most ${amount(atMost)}`,
    atMost === undefined ? "" : value <= atMost ? "yes" : "**no**",
  ]);
  return table([question, unit, "middle half", "goal", "reached"], rows);
}

function growthSection({ plot, question, x, y, series }) {
  const xs = [...new Set(Object.values(series).flatMap((points) => points.map(([value]) => value)))].sort(
    (a, b) => a - b,
  );
  const rows = Object.entries(series).map(([name, points]) => {
    const by = new Map(points);
    return [name, ...xs.map((value) => (by.has(value) ? amount(by.get(value)) : ""))];
  });
  const picture = `![${question}](images/performance/${plot}.svg)`;
  const figures = table([`${y.label}, by ${x.label}`, ...xs.map(amount)], rows);
  return `${picture}\n\n<details><summary>${question}: the figures</summary>\n\n${figures}\n\n</details>`;
}

function two(ratio) {
  return ratio.toFixed(2);
}
