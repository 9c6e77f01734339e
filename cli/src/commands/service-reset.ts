import { resetDatabase } from "hookproof-service";
import { confirm } from "../ask.js";
import type { Command } from "../command.js";
import { EXIT } from "../failure.js";
import { startProgress } from "../progress.js";
import { bucketOf, DATABASE_FLAG, databaseFile, onDatabase } from "../service-database.js";

export const serviceReset: Command = {
  name: "service reset",
  describe: "Takes the service's database back to the seed or fixture it was filled with. It may be running.",
  flags: {
    ...DATABASE_FLAG,
    yes: { type: "boolean", alias: "y", describe: "do not ask: what has changed since is lost" },
  },
  examples: [
    ["hookproof service reset --yes", "between two runs of a test"],
    ["hookproof service reset --db team.db", "asks first"],
  ],
  exits: [
    [3, "there is no such database, or it cannot be used"],
    [130, "not confirmed"],
  ],
  async run(context) {
    const { args, io, out, global } = context;
    const db = databaseFile(io, args);
    await confirm(context, `Reset ${db}?`, "A reset loses what has changed since the database was filled.");
    const progress = startProgress(io, global.quiet, undefined);
    await onDatabase(() => resetDatabase({ db, s3: bucketOf(io) })).finally(() => progress.finish());
    out.document({ type: "reset", ok: true, db });
    out.line(db);
    return EXIT.ok;
  },
};
