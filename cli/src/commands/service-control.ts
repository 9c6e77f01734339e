// The commands that set faults, clock and snapshots of a running local service.
import type { Args, Command } from "../command.js";
import { CliError, EXIT, usageError } from "../failure.js";
import { countOf } from "../output.js";
import { askControl, CONTROL_EXITS, CONTROL_FLAGS } from "../serve/control-client.js";
import { durationMs, pointInTime } from "../times.js";

export const serviceFault: Command = {
  name: "service fault",
  details: "Without an operation it lists the faults that are set.",
  positionals: [
    { name: "operation", describe: "such as getAuthConfig", required: false, completes: "operation" },
  ],
  flags: {
    status: { type: "number", value: "<n>", range: [200, 599], describe: "the status to answer with" },
    body: { type: "string", value: "<json>", describe: "the body of that answer" },
    delay: { type: "duration", value: "<dur>", describe: "the time to wait first" },
    cut: { type: "boolean", describe: "cut the connection" },
    malformed: { type: "boolean", describe: "answer with JSON that ends in the middle" },
    "retry-after": { type: "duration", value: "<dur>", describe: "the header Retry-After" },
    times: {
      type: "number",
      value: "<n>",
      range: [1, 999_999_999],
      describe: "for so many requests; all by default",
    },
    sequence: { type: "string", value: "<list>", describe: "one after another, such as 503,503,ok,cut" },
    "rate-limit": {
      type: "string",
      value: "<n>/<dur>",
      describe: "requests that pass, such as 10/1m; 429 for others",
    },
    clear: { type: "boolean", describe: "let the operation work again; without an operation, all of them" },
    ...CONTROL_FLAGS,
  },
  examples: [
    ["hookproof service fault getAuthConfig --status 503 --times 3", "fail three times, then succeed"],
    ["hookproof service fault createToken --rate-limit 10/1m", "429 with Retry-After from the 11th on"],
    ["hookproof service fault --clear", "everything works again"],
  ],
  exits: CONTROL_EXITS,
  async run(context) {
    const { args, out } = context;
    const operation = args.text("operation");
    const path = operation === undefined ? "faults" : `faults/${encodeURIComponent(operation)}`;
    if (args.flag("clear")) {
      await askControl(context, "DELETE", path);
      out.document({ type: "fault", ok: true, operation, cleared: true });
      return EXIT.ok;
    }
    if (operation !== undefined) {
      const fault = faultOf(args);
      await askControl(context, "PUT", path, fault);
      out.document({ type: "fault", ok: true, operation, fault });
      out.line(`${operation}  ${JSON.stringify(fault)}`);
      return EXIT.ok;
    }
    const { list } = (await askControl(context, "GET", path)) as {
      list: { operation: string; fault: object }[];
    };
    for (const one of list) {
      out.document({ type: "fault", ok: true, ...one });
      out.line(`${one.operation}  ${JSON.stringify(one.fault)}`);
    }
    return EXIT.ok;
  },
};

function faultOf(args: Args): object {
  const [sequence, rateLimit] = [args.text("sequence"), args.text("rate-limit")];
  const single = {
    status: args.number("status"),
    body: bodyOf(args.text("body")),
    delayMs: args.durationMs("delay"),
    disconnect: args.flag("cut") || undefined,
    malformed: args.flag("malformed") || undefined,
    retryAfterSeconds: secondsOf(args.durationMs("retry-after")),
    times: args.number("times"),
  };
  const isSingle = Object.values(single).some((value) => value !== undefined);
  if (Number(isSingle) + Number(sequence !== undefined) + Number(rateLimit !== undefined) !== 1)
    throw usageError(
      "Give one of --sequence, --rate-limit, and the flags of a single answer such as --status.",
    );
  if (sequence !== undefined) return { sequence: sequence.split(",").map(partOf) };
  if (rateLimit === undefined) return single;
  const [, requests, window] = /^([0-9]{1,9})\/(.+)$/.exec(rateLimit) ?? [];
  if (requests === undefined || window === undefined)
    throw usageError(
      `--rate-limit must be a number and a duration, such as 10/1m, not ${JSON.stringify(rateLimit)}.`,
    );
  return { rateLimit: { requests: Number(requests), windowMs: durationMs("rate-limit", window) } };
}

function partOf(text: string): object {
  if (/^[2-5][0-9]{2}$/.test(text)) return { status: Number(text) };
  const parts: Record<string, object> = { ok: {}, cut: { disconnect: true }, malformed: { malformed: true } };
  const part = Object.hasOwn(parts, text) ? parts[text] : undefined;
  if (part) return part;
  throw usageError(`--sequence has statuses, ok, cut and malformed, not ${JSON.stringify(text)}.`);
}

function bodyOf(text: string | undefined): unknown {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    throw usageError("--body must be JSON.");
  }
}

function secondsOf(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : Math.ceil(ms / 1000);
}

export const serviceClock: Command = {
  name: "service clock",
  details: "Without a flag it shows the time. The service's Date headers follow its clock.",
  positionals: [{ name: "time", describe: "the time it is from now on", required: false }],
  flags: {
    advance: { type: "duration", value: "<dur>", describe: "move it on by so much" },
    freeze: { type: "boolean", describe: "stop it" },
    go: { type: "boolean", describe: "let it go on" },
    ...CONTROL_FLAGS,
  },
  examples: [
    ["hookproof service clock 2030-01-01T00:00:00Z --freeze", "that moment, until it is moved"],
    ["hookproof service clock --advance 1h", "to see tokens expire"],
  ],
  exits: CONTROL_EXITS,
  async run(context) {
    const { args, out } = context;
    const [time, advanceMs] = [args.text("time"), args.durationMs("advance")];
    if (args.flag("freeze") && args.flag("go")) throw usageError("--freeze and --go exclude each other.");
    const change = {
      ...(time === undefined ? {} : { to: new Date(pointInTime("The time", time)).toISOString() }),
      ...(advanceMs === undefined ? {} : { advanceMs }),
      ...(args.flag("freeze") || args.flag("go") ? { frozen: args.flag("freeze") } : {}),
    };
    const isMoved = Object.keys(change).length > 0;
    const { now, frozen } = await askControl(
      context,
      isMoved ? "POST" : "GET",
      "clock",
      isMoved ? change : undefined,
    );
    out.document({ type: "clock", ok: true, now, frozen });
    out.line(`${now}${frozen === true ? "  frozen" : ""}`);
    return EXIT.ok;
  },
};

export const serviceSnapshot: Command = {
  name: "service snapshot",
  details: "Of the state of the running service. Snapshots stay in its database.",
  positionals: [
    {
      name: "action",
      describe: "what to do",
      required: true,
      choices: ["save", "restore", "remove", "list"],
    },
    { name: "name", describe: "the snapshot's name", required: false },
  ],
  flags: { ...CONTROL_FLAGS },
  examples: [
    ["hookproof service snapshot save full", "keep the state under a name"],
    ["hookproof service snapshot restore full", "go back to it, between two tests"],
  ],
  exits: CONTROL_EXITS,
  async run(context) {
    const { args, out } = context;
    const [action, name] = [args.text("action"), args.text("name")];
    if (action === "list") {
      const { list } = (await askControl(context, "GET", "snapshots")) as {
        list: { name: string; createdAt: string }[];
      };
      for (const one of list) {
        out.document({ type: "snapshot", ok: true, ...one });
        out.line(`${one.name}  ${one.createdAt}`);
      }
      return EXIT.ok;
    }
    if (name === undefined) throw usageError(`service snapshot ${action} needs a name.`);
    const path = `snapshots/${encodeURIComponent(name)}`;
    if (action === "save") await askControl(context, "PUT", path);
    else if (action === "restore") await askControl(context, "POST", `${path}/restore`);
    else await askControl(context, "DELETE", path);
    out.document({ type: "snapshot", ok: true, action, name });
    out.line(name);
    return EXIT.ok;
  },
};

export const serviceJournal: Command = {
  name: "service journal",
  details: "The running service keeps the latest 1,000. Secrets are hidden.",
  flags: {
    operation: {
      type: "string",
      value: "<id>",
      describe: "only of this operation",
      completes: "operation",
    },
    method: {
      type: "string",
      choices: ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"],
      describe: "only with this method",
    },
    path: { type: "string", value: "<path>", describe: "only for this path" },
    status: { type: "number", value: "<n>", range: [0, 599], describe: "only with this answer; 0 is cut" },
    query: {
      type: "string",
      value: "<name>=<value>",
      repeatable: true,
      describe: "only with this in the query",
    },
    body: { type: "string", value: "<json>", describe: "only with these members in the body" },
    expect: { type: "number", value: "<n>", range: [0, 1_000], describe: "fail unless there are so many" },
    clear: { type: "boolean", describe: "forget the requests so far" },
    ...CONTROL_FLAGS,
  },
  examples: [
    ["hookproof service journal --operation searchUserOwners", "how a client paged"],
    ["hookproof service journal --query page_token=abc --expect 1", "in a test: asked for once"],
  ],
  exits: [...CONTROL_EXITS, [7, "there are more or fewer requests than --expect"]],
  async run(context) {
    const { args, out } = context;
    if (args.flag("clear")) {
      await askControl(context, "DELETE", "journal");
      out.document({ type: "journal", ok: true, cleared: true });
      return EXIT.ok;
    }
    const { count, list } = (await askControl(context, "POST", "journal/search", filterOf(args))) as {
      count: number;
      list: { time: string; status: number; method: string; path: string; query: Record<string, string> }[];
    };
    for (const entry of list) {
      out.document({ type: "journal", ok: true, entry });
      const query = new URLSearchParams(entry.query).toString();
      const shown = query === "" ? entry.path : `${entry.path}?${query}`;
      out.line(`${entry.time}  ${String(entry.status).padStart(3)}  ${entry.method.padEnd(6)}  ${shown}`);
    }
    out.note(countOf(count, "request"));
    const expected = args.number("expect");
    if (expected !== undefined && expected !== count)
      throw new CliError(
        EXIT.checkFailed,
        "JOURNAL_DIFFERS",
        `Found ${countOf(count, "such request")}, not ${expected}.`,
      );
    return EXIT.ok;
  },
};

function filterOf(args: Args): object {
  const query = args.texts("query").map((text) => {
    const [, name, value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
    if (name === undefined)
      throw usageError(`--query must be a name and a value, not ${JSON.stringify(text)}.`);
    return [name, value];
  });
  return {
    operation: args.text("operation"),
    method: args.text("method"),
    path: args.text("path"),
    status: args.number("status"),
    query: Object.fromEntries(query),
    body: bodyOf(args.text("body")),
  };
}
