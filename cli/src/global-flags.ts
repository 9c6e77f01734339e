import type { Flag } from "./command.js";

/** The flags that every command has. */
export const GLOBAL_FLAGS = {
  profile: {
    type: "string",
    alias: "p",
    value: "<name>",
    describe: "whose target, secret or key is used",
    completes: "profile",
  },
  config: {
    type: "string",
    value: "<file>",
    describe: "instead of ./hookproof.config.json",
    completes: "file",
  },
  json: { type: "boolean", describe: "stdout is JSON and nothing else" },
  quiet: { type: "boolean", alias: "q", describe: "errors only" },
  verbose: {
    type: "boolean",
    alias: "v",
    describe: "request and response; twice: canonical string and timings",
  },
  color: { type: "boolean", describe: "colour on, or off with --no-color" },
  input: { type: "boolean", negated: true, describe: "never ask, even in a terminal" },
  timeout: { type: "duration", value: "<dur>", default: "10s", describe: "limit for one call, such as 10s" },
  help: { type: "boolean", alias: "h", describe: "show help" },
} as const satisfies Record<string, Flag>;
