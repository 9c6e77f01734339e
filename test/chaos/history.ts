import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ChaosEvidence } from "./outbox-judge.js";

/** Not among the temporary files, which a test run removes when it ends. */
const FOLDER = join(import.meta.dirname, "../../node_modules/.cache/hookproof-histories");

/** What a process said at a moment. */
export interface Remark {
  readonly at: number;
  readonly text: string;
}

/**
 * Writes what was seen of a run that broke a promise into a file that stays, one line for each thing, in its order: what
 * was broken, and then who did what when, in milliseconds since the first of it. Returns its path.
 */
export function keptHistory(
  engine: string,
  broken: readonly string[],
  evidence: ChaosEvidence,
  remarks: readonly Remark[],
): string {
  const { requests, interruptions, outages, entries, dead } = evidence;
  const begun = [...requests.map(({ at }) => at), ...outages.map(({ from }) => from)];
  const first = begun.reduce((least, at) => Math.min(least, at), Number.POSITIVE_INFINITY);
  const lines: Remark[] = [
    ...remarks,
    ...requests.map(({ at, dispatcher, listener, id, ran, status, answeredAt, isKnown }) => {
      const took =
        answeredAt === undefined ? "no answer" : `${status} after ${Math.round(answeredAt - at)} ms`;
      const words = [`dispatcher ${dispatcher} sends ${id} to ${listener}: ${took}`];
      return {
        at,
        text: [...words, ran && "it ran", !isKnown && "not known to the sender"].filter(Boolean).join(", "),
      };
    }),
    ...interruptions.flatMap(({ dispatcher, kind, from, to }) => [
      { at: from, text: `dispatcher ${dispatcher}: ${kind}` },
      { at: to, text: `dispatcher ${dispatcher}: end of ${kind}` },
    ]),
    ...outages.flatMap(({ from, to }) => [
      { at: from, text: "the store is away" },
      { at: to, text: "the store is back" },
    ]),
  ];
  lines.sort((a, b) => a.at - b.at);
  const ends = [
    ...[...entries].map(
      ([id, found]) =>
        `${id}: ${found.map(({ state, attempts }) => `${state} after ${attempts.length} attempts`)}`,
    ),
    ...dead.map(({ event, reason }) => `${event.id}: dead letter (${reason})`),
  ];
  mkdirSync(FOLDER, { recursive: true });
  const path = join(FOLDER, `outbox-history-${engine}-${process.env.HOOKPROOF_SEED}-${process.pid}.txt`);
  const told = lines.map(({ at, text }) => `${(at - first).toFixed(1).padStart(10)}  ${text}`);
  writeFileSync(
    path,
    ["broken:", ...broken, "", "history:", ...told, "", "in the end:", ...ends, ""].join("\n"),
  );
  return path;
}
