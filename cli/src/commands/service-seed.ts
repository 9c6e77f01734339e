import type { Command } from "../command.js";
import { EXIT } from "../failure.js";
import { fillDatabase } from "../seed-database.js";
import { DATABASE_FLAG, databaseFile, SEED_FLAGS, sourceOf } from "../service-database.js";

export const serviceSeed: Command = {
  name: "service seed",
  describe: "Fills the service's database with a made-up state of any size, or with a fixture.",
  flags: {
    ...DATABASE_FLAG,
    ...SEED_FLAGS,
    replace: { type: "boolean", describe: "a database that has a state as well, which is lost then" },
  },
  examples: [
    [
      "hookproof service seed --seed 42 --users 1000000 --db large.db",
      "the same ids, names and times every time",
    ],
    ["hookproof service seed --seed team.yaml --replace", "users and secrets of your own"],
  ],
  exits: [[3, "the database cannot be used, or has a state already"]],
  async run(context) {
    const { args, io, out } = context;
    const source = await sourceOf(args);
    const db = databaseFile(io, args);
    const users = await fillDatabase(context, { ...source, db, replace: args.flag("replace") });
    out.document({ type: "seed", ok: true, db, users });
    out.line(db);
    out.note(`${users} users; next: hookproof service start${args.isGiven("db") ? ` --db ${db}` : ""}`);
    return EXIT.ok;
  },
};
