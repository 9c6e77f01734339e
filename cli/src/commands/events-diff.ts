import { existsSync } from "node:fs";
import type { Command, Context } from "../command.js";
import { compareBodies, type Difference } from "../compare-bodies.js";
import { EXIT, usageError } from "../failure.js";
import { recall } from "../history.js";
import type { RecordedRequest } from "../history-record.js";
import { readExport } from "../read-export.js";

const DESCRIBE = "an event id, last, or the file of an exported event";

export const eventsDiff: Command = {
  name: "events diff",
  describe:
    "What differs between two events: URL, headers, outcome, and the bodies member by member. Exit 0 either way.",
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
      out.line(out.paint("red", `  - ${before ?? "(not there)"}`));
      out.line(out.paint("green", `  + ${after ?? "(not there)"}`));
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
  const value = headers[name];
  if (value === undefined || name.toLowerCase() !== "authorization") return value;
  return `${value.slice(0, 12)}…${value.slice(-6)}`;
}
