// The commands that write the state of the local service to a file, and compare two states.
import { closeSync, existsSync, openSync, readSync, realpathSync, statSync } from "node:fs";
import type { Fixture, StateChange } from "hookproof-service";
import type { Command, Context } from "../command.js";
import { CliError, EXIT, usageError } from "../failure.js";
import { readText } from "../files/files.js";
import { writeOwnFile } from "../files/written-file.js";
import { countOf } from "../output.js";
import {
  askControl,
  CONTROL_EXITS,
  CONTROL_FLAGS,
  SERVICE_CONNECTION_FLAGS,
} from "../serve/control-client.js";
import { bucketOf, DATABASE_FLAG, databaseFile, fixtureOf, onDatabase } from "../serve/service-database.js";
import { wordOf } from "../shell-word.js";
import { startProgress } from "../terminal/progress.js";

export const serviceExport: Command = {
  name: "service export",
  details:
    "The same state is the same bytes. Contents of secrets are [hidden] unless --with-secrets is given; the service may be running.",
  flags: {
    out: {
      type: "string",
      value: "<file>",
      describe: "the file to write, readable by you only; standard output by default",
      completes: "file",
    },
    "with-secrets": {
      type: "boolean",
      describe: "texts and files of secrets and signing secrets in clear: not for git",
    },
    ...CONTROL_FLAGS,
    "base-url": {
      type: "string",
      value: "<url>",
      describe: "ask the service that runs there, and not the database",
    },
  },
  examples: [
    ["hookproof service export --out team.yaml", "then: hookproof service start --fixture team.yaml"],
    ["hookproof service export --db team.db | git diff --no-index team.yaml -", "what has changed since"],
  ],
  exits: [
    [3, "there is no such database, or it cannot be used; the file cannot be written"],
    [4, "with --base-url: the service refused the request"],
    [6, "with --base-url: the service does not answer"],
  ],
  async run(context) {
    const { args, io, out } = context;
    const [file, withSecrets] = [args.text("out"), args.flag("with-secrets")];
    const running = args.text("base-url");
    if (running !== undefined && !isUrl(running))
      throw usageError(`--base-url must be an http or https URL, not ${JSON.stringify(running)}.`);
    const place = running ?? databaseFile(io, args);
    const exported = async () => {
      const state = isUrl(place)
        ? await runningState(context, place, withSecrets)
        : await databaseState(context, place, withSecrets);
      const { formatFixture } = await import("hookproof-service");
      return { state, text: await formatFixture(state) };
    };
    const progress = startProgress(context, undefined);
    const { state, text } = await exported().finally(() => progress.finish());
    if (file === undefined) {
      out.document({ type: "export", ok: true, state });
      out.raw(text.trimEnd());
      return EXIT.ok;
    }
    await writeOwnFile(file, text);
    out.document({ type: "export", ok: true, file });
    out.line(file);
    out.note(`next: hookproof service start --fixture ${wordOf(file)}`);
    return EXIT.ok;
  },
};

const DESCRIBE = "a fixture, the file of a database, or the URL of a running service";

export const serviceDiff: Command = {
  name: "service diff",
  details: "By kind and id, with each member before and after. Values of secrets are not shown.",
  positionals: [
    { name: "before", required: true, describe: DESCRIBE, completes: "file" },
    { name: "after", required: true, describe: DESCRIBE, completes: "file" },
  ],
  flags: {
    ...DATABASE_FLAG,
    ...SERVICE_CONNECTION_FLAGS,
    "control-token-file": CONTROL_FLAGS["control-token-file"],
  },
  examples: [
    ["hookproof service diff team.yaml http://127.0.0.1:4420", "what was done to the service since"],
    ["hookproof service diff before.yaml after.yaml --json", "two exported states, for a script"],
  ],
  exits: [
    [3, "a file or database cannot be read, or the control token"],
    ...CONTROL_EXITS.filter(([code]) => code !== 3),
    [7, "the states differ"],
  ],
  async run(context) {
    const { args, out } = context;
    const [before, after] = [args.text("before") ?? "", args.text("after") ?? ""];
    if (before === "-" && after === "-") throw usageError("Only one of the states can be standard input.");
    const { diffStates } = await import("hookproof-service");
    const [old, current] = [await stateAt(context, before), await stateAt(context, after)];
    const changes = await onDatabase(async () => diffStates(old, current));
    out.document({ type: "state-diff", ok: true, same: changes.length === 0, changes: changes.map(inJson) });
    for (const { kind, room, id, members } of changes) {
      out.line(`${SIGNS[kind]} ${room} ${id}`);
      for (const { name, before: was, after: is } of members) {
        if (was !== undefined) out.line(out.paint("red", `    - ${name}: ${JSON.stringify(was)}`));
        if (is !== undefined) out.line(out.paint("green", `    + ${name}: ${JSON.stringify(is)}`));
      }
    }
    if (changes.length === 0) out.line("The states do not differ.");
    else out.note(countOf(changes.length, "change"));
    return changes.length === 0 ? EXIT.ok : EXIT.checkFailed;
  },
};

const SIGNS: Record<StateChange["kind"], string> = { added: "+", removed: "-", changed: "~" };

/** JSON has no undefined: a member that one side lacks is null there. */
function inJson({ members, ...change }: StateChange): object {
  return {
    ...change,
    members: members.map(({ name, before = null, after = null }) => ({ name, before, after })),
  };
}

/** A state with its secrets, so that a secret that changed is seen; they are not shown. */
async function stateAt(context: Context, place: string): Promise<Fixture> {
  if (isUrl(place)) return withSecretsWhereItCan(context, place, runningState);
  if (place !== "-" && isDatabase(place)) return withSecretsWhereItCan(context, place, databaseState);
  return fixtureOf(await readText(context.io, place), place === "-" ? "standard input" : place);
}

/** A file may be larger than an export takes: then the states are compared without contents. */
async function withSecretsWhereItCan(
  context: Context,
  place: string,
  read: typeof runningState,
): Promise<Fixture> {
  try {
    return await read(context, place, true);
  } catch (error) {
    if (!(error instanceof CliError) || !["FILE_TOO_LARGE", "CONTROL_REFUSED"].includes(error.code))
      throw error;
    const state = await read(context, place, false);
    context.out.warn(`${place}: contents of secrets were not compared. ${error.message}`);
    return state;
  }
}

async function runningState(context: Context, url: string, withSecrets: boolean): Promise<Fixture> {
  return (await askControl(
    context,
    "POST",
    "state/export",
    { withSecrets },
    { baseUrl: url.replace(/(?<!\/)\/+$/, ""), maxResponseBytes: 256 * 2 ** 20 },
  )) as Fixture;
}

async function databaseState(context: Context, db: string, withSecrets: boolean): Promise<Fixture> {
  const { exportDatabase } = await import("hookproof-service");
  const s3 = await bucketOf(context);
  return onDatabase(() => exportDatabase({ db, s3, withSecrets }));
}

function isUrl(place: string): boolean {
  return /^https?:\/\//.test(place);
}

/** By its first bytes; what cannot be read is no database, and reading it as a file says why. */
function isDatabase(file: string): boolean {
  // Of a pipe the first bytes would be gone.
  if (!statSync(file, { throwIfNoEntry: false })?.isFile()) return false;
  // One that is in use has this next to it. It is not opened here: closing it again would drop the locks of a service in
  // this process, and another process could then delete the log that the service writes.
  if (existsSync(`${realpathSync(file)}-shm`)) return true;
  let handle: number | undefined;
  try {
    handle = openSync(file, "r");
    const beginning = Buffer.alloc(SQLITE.length);
    readSync(handle, beginning, 0, SQLITE.length, 0);
    return beginning.toString("latin1") === SQLITE;
  } catch {
    return false;
  } finally {
    if (handle !== undefined) closeSync(handle);
  }
}

const SQLITE = "SQLite format 3";
