// The command that serves the tools for assistants over MCP.
import type { Command } from "../command.js";
import { OUTBOX_FLAGS } from "../outbox/open-outbox.js";

export const mcp: Command = {
  name: "mcp",
  details:
    "Speaks the Model Context Protocol on standard input and output. It reads, and no more, unless --allow says otherwise; no tool takes or gives a secret.",
  flags: {
    allow: {
      type: "string",
      value: "<action>",
      choices: ["listen", "send"],
      repeatable: true,
      describe: "what the tools may do: listen (start and stop local listeners), send (send, replay, probe)",
    },
    to: {
      type: "string",
      value: "<profile>",
      repeatable: true,
      describe: "with --allow send: a profile whose target may be sent to; otherwise only this machine",
      completes: "profile",
    },
    ...OUTBOX_FLAGS,
  },
  examples: [
    ["hookproof mcp", "reads: requests of local listeners, diagnoses, the outbox"],
    ["hookproof mcp --allow listen --allow send", "starts listeners too, and sends to this machine"],
    ["hookproof mcp --allow send --to staging", "sends to the target of the profile staging as well"],
  ],
  exits: [[3, "a profile of --to is unknown, or a configuration file cannot be used"]],
  async run(context) {
    const { serveTools } = await import("../mcp/serve-tools.js");
    return serveTools(context);
  },
};
