import { exampleRoutes } from "hookproof-service";
import type { Command } from "../command.js";
import { EXIT } from "../failure.js";
import { DATABASE_FLAG, databaseFile, onDatabase } from "../service-database.js";

/** The flag of commands that call the running service, or print how. */
const SERVICE_URL = "http://127.0.0.1:4420";

export const serviceRoutes: Command = {
  name: "service routes",
  describe:
    "Every operation of the specification with ids of the service's database filled in; each line can be called as it is.",
  flags: {
    ...DATABASE_FLAG,
    "base-url": { type: "string", value: "<url>", default: SERVICE_URL, describe: "where the service runs" },
  },
  examples: [
    ["hookproof service routes", "the user's own database, on port 4420"],
    ["hookproof service routes --json | jq -r 'select(.section == \"4.3\").url'", "the URL of one operation"],
  ],
  exits: [[3, "there is no such database, or it cannot be used"]],
  async run({ args, io, out }) {
    const db = databaseFile(io, args);
    const baseUrl = (args.text("base-url") ?? SERVICE_URL).replace(/(?<!\/)\/+$/, "");
    const routes = await onDatabase(() => exampleRoutes({ db, baseUrl }));
    for (const { section, operation, method, url, exampleBody } of routes) {
      out.document({ type: "route", section, operation, method, url, exampleBody });
      out.line(`${section.padEnd(4)}  ${method.padEnd(6)}  ${url}`);
      if (exampleBody !== undefined) out.line(`${" ".repeat(14)}${JSON.stringify(exampleBody)}`);
    }
    out.note('next: curl -H "Authorization: Bearer $(hookproof service token)" <url>');
    out.note("webhooks (4.10) are signed instead: hookproof send <url>");
    return EXIT.ok;
  },
};
