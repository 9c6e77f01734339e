// The commands that fill, reset and describe the local service.

import type { Command } from "../command.js";
import { nextStep } from "../config/next-step.js";
import { EXIT } from "../failure.js";
import { countOf } from "../output.js";
import {
  askControl,
  BASE_URL_FLAG,
  baseUrlOf,
  CONTROL_FLAGS,
  SERVICE_CONNECTION_FLAGS,
} from "../serve/control-client.js";
import {
  AUTOMATION_FLAGS,
  automationOptions,
  BUCKET_FLAG,
  bucketOf,
  DATABASE_FLAG,
  databaseFile,
  fillDatabase,
  onDatabase,
  SEED_FLAGS,
  sourceOf,
} from "../serve/service-database.js";
import { wordOf } from "../shell-word.js";
import { confirm } from "../terminal/ask.js";
import { startProgress } from "../terminal/progress.js";

export const serviceSeed: Command = {
  name: "service seed",
  details: "The data is made up, of any size, or comes from a fixture.",
  flags: {
    ...DATABASE_FLAG,
    ...SEED_FLAGS,
    ...AUTOMATION_FLAGS,
    ...BUCKET_FLAG,
    replace: { type: "boolean", describe: "replace the data of a database that has some" },
  },
  examples: [
    [
      "hookproof service seed --seed 42 --users 1000000 --db large.db",
      "the same ids, names and times every time",
    ],
    ["hookproof service seed --fixture team.yaml --replace", "users and secrets of your own"],
  ],
  exits: [[3, "the database cannot be used, or already has data"]],
  async run(context) {
    const { args, io, out } = context;
    const source = await sourceOf(args);
    const db = databaseFile(io, args);
    const users = await fillDatabase(context, {
      ...source,
      db,
      replace: args.flag("replace"),
      ...automationOptions(args),
    });
    out.document({ type: "seed", ok: true, db, users });
    out.line(db);
    out.note(`${countOf(users, "user")}; next: ${nextStep(args, "hookproof service start")}`);
    return EXIT.ok;
  },
};

export const serviceReset: Command = {
  name: "service reset",
  details: "The service may be running.",
  flags: {
    ...DATABASE_FLAG,
    ...AUTOMATION_FLAGS,
    yes: { type: "boolean", alias: "y", describe: "do not ask; changes since then are lost" },
    all: { type: "boolean", describe: "faults, clock and journal of the running service too" },
    ...BASE_URL_FLAG,
    ...SERVICE_CONNECTION_FLAGS,
    "control-token-file": CONTROL_FLAGS["control-token-file"],
  },
  examples: [
    ["hookproof service reset --yes", "between two runs of a test"],
    ["hookproof service reset --yes --all", "the running service as it was at its start"],
    ["hookproof service reset --db team.db", "asks first"],
  ],
  exits: [
    [3, "there is no such database, or it cannot be used"],
    [4, "with --all: the service refused the request"],
    [6, "with --all: the service does not answer"],
    [130, "not confirmed"],
  ],
  async run(context) {
    const { args, io, out } = context;
    const db = databaseFile(io, args);
    await confirm(context, `Reset ${db}?`, "A reset loses every change since the database was filled.");
    if (args.flag("all")) {
      await askControl(context, "POST", "reset");
      out.document({ type: "reset", ok: true, db });
      out.line(db);
      return EXIT.ok;
    }
    const { resetDatabase } = await import("hookproof-service");
    const progress = startProgress(context, undefined);
    const options = { db, s3: await bucketOf(context), ...automationOptions(args) };
    await onDatabase(() => resetDatabase(options)).finally(() => progress.finish());
    out.document({ type: "reset", ok: true, db });
    out.line(db);
    return EXIT.ok;
  },
};

export const serviceRoutes: Command = {
  name: "service routes",
  details: "The ids in the URLs come from the service's database.",
  flags: {
    ...DATABASE_FLAG,
    ...BASE_URL_FLAG,
  },
  examples: [
    ["hookproof service routes", "the user's own database, on port 4420"],
    ["hookproof service routes --json | jq -r 'select(.section == \"4.3\").url'", "the URL of one operation"],
  ],
  exits: [[3, "there is no such database, or it cannot be used"]],
  async run({ args, io, out }) {
    const db = databaseFile(io, args);
    const baseUrl = baseUrlOf({ args });
    const { exampleRoutes } = await import("hookproof-service");
    const routes = await onDatabase(() => exampleRoutes({ db, baseUrl }));
    for (const { section, operation, method, url, exampleBody } of routes) {
      out.document({ type: "route", section, operation, method, url, exampleBody });
      out.line(`${section.padEnd(4)}  ${method.padEnd(6)}  ${url}`);
      if (exampleBody !== undefined) out.line(`${" ".repeat(14)}${out.code(JSON.stringify(exampleBody))}`);
    }
    const first = routes.find(({ method }) => method === "GET");
    if (first !== undefined)
      out.note(
        `next: curl -H "Authorization: Bearer $(${nextStep(args, "hookproof service token", ["base-url"])})" ${wordOf(first.url)}`,
      );
    out.note("webhooks (4.10) are signed instead: hookproof send <url>");
    return EXIT.ok;
  },
};
