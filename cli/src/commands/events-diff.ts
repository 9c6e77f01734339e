// The command that compares two recorded events.
import { existsSync } from "node:fs";
import type { Command, Context } from "../command.js";
import { EXIT, usageError } from "../failure.js";
import { recall } from "../history/history.js";
import { type RecordedRequest, readExport } from "../history/history-record.js";

const DESCRIBE = "an event id, last, or the file of an exported event";

export const eventsDiff: Command = {
  name: "events diff",
  details: "Compares URL, headers, outcome, and the bodies member by member. The exit code is 0 either way.",
  positionals: [
    { name: "a", required: true, describe: DESCRIBE, completes: "event" },
    { name: "b", required: true, describe: DESCRIBE, completes: "event" },
  ],
  flags: {},
  examples: [
    ["hookproof events diff 0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10 last", "an earlier event and the last one"],
    ["hookproof events diff good.json bad.json --json", "two exported events, for a script"],
  ],
  exits: [[3, "there is no such event"]],
  async run(context) {
    const { args, out } = context;
    const [a, b] = [args.text("a") ?? "", args.text("b") ?? ""];
    if (a === "-" && b === "-") throw usageError("Only one of the events can be standard input.");
    const differences = differencesOf(await eventOf(context, a), await eventOf(context, b));
    out.document({ type: "diff", ok: true, same: differences.length === 0, differences });
    for (const { where, a: before, b: after } of differences) {
      out.line(where);
      out.line(out.paint("red", `  - ${before ?? "(missing)"}`));
      out.line(out.paint("green", `  + ${after ?? "(missing)"}`));
    }
    if (differences.length === 0) out.line("The events do not differ.");
    return EXIT.ok;
  },
};

function eventOf({ io, out }: Context, which: string): Promise<RecordedRequest> {
  const isFile = which === "-" || (which !== "last" && (existsSync(which) || /[/\\]|\.json$/.test(which)));
  return isFile ? readExport(io, which) : recall(io, out, which);
}

function differencesOf(a: RecordedRequest, b: RecordedRequest): Difference[] {
  const names = [...new Set([...Object.keys(a.headers), ...Object.keys(b.headers)])];
  const texts = [
    { where: "url", a: a.url, b: b.url },
    { where: "event id", a: a.eventId, b: b.eventId },
    {
      where: "outcome",
      a: `${a.status ?? "no answer"} ${a.outcome}`,
      b: `${b.status ?? "no answer"} ${b.outcome}`,
    },
    ...names.map((name) => ({ where: `header ${name}`, a: shown(name, a), b: shown(name, b) })),
  ].filter((pair) => pair.a !== pair.b);
  return [
    ...texts,
    ...compareBodies(Buffer.from(a.bodyBase64, "base64"), Buffer.from(b.bodyBase64, "base64")),
  ];
}

/** A header's value; of a token only its start and end, which is enough to tell two apart. */
function shown(name: string, { headers }: RecordedRequest): string | undefined {
  const value = Object.hasOwn(headers, name) ? headers[name] : undefined;
  if (value === undefined || name.toLowerCase() !== "authorization") return value;
  return `${value.slice(0, 12)}…${value.slice(-6)}`;
}

/** One thing that differs; undefined where one side does not have it. */
interface Difference {
  readonly where: string;
  readonly a: string | undefined;
  readonly b: string | undefined;
}

/** What differs between two bodies: members where both are JSON, bytes otherwise. */
function compareBodies(a: Buffer, b: Buffer): Difference[] {
  if (a.equals(b)) return [];
  const values = [a, b].map(jsonOf);
  const [left, right] = values;
  const members = left && right ? compareValues("body", left.value, right.value) : [];
  if (members.length > 0) return members;
  const at = a.findIndex((byte, index) => byte !== b[index]);
  const first = at < 0 ? Math.min(a.length, b.length) : at;
  return [
    {
      where:
        left && right ? `body, the same JSON in other bytes from byte ${first}` : `body, from byte ${first}`,
      a: excerpt(a, first),
      b: excerpt(b, first),
    },
  ];
}

/** Deeper JSON is compared as bytes: to walk it would use up the stack. */
const MAX_LEVELS = 500;

function jsonOf(body: Buffer): { value: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(body.toString("utf8"));
    return isDeep(value) ? undefined : { value };
  } catch {
    return undefined;
  }
}

function isDeep(value: unknown): boolean {
  let level = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_LEVELS) return true;
    level = level.flatMap((one) => (isContainer(one) ? Object.values(one) : []));
  }
  return false;
}

function compareValues(where: string, a: unknown, b: unknown): Difference[] {
  if (!isContainer(a) || !isContainer(b) || Array.isArray(a) !== Array.isArray(b)) {
    const [left, right] = [JSON.stringify(a), JSON.stringify(b)];
    return left === right ? [] : [{ where, a: left, b: right }];
  }
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].flatMap((name) =>
    compareValues(`${where}.${name}`, memberOf(a, name), memberOf(b, name)),
  );
}

function memberOf(value: object, name: string): unknown {
  return Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined;
}

function isContainer(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function excerpt(body: Buffer, from: number): string {
  return JSON.stringify(body.subarray(Math.max(0, from - 8), from + 24).toString("utf8"));
}
