import { readFile } from "node:fs/promises";
import type { Context, Flag } from "./command.js";
import { CliError, EXIT, usageError } from "./failure.js";
import { type Io, readStdin } from "./io.js";

/** The flags of a command that signs one event. */
export const EVENT_FLAGS = {
  data: {
    type: "string",
    alias: "d",
    value: "<json|@file|->",
    describe: "the body: JSON text, a file, or standard input",
    completes: "file",
  },
  "event-id": { type: "string", value: "<uuid>", describe: "an id of your own (UUID v4)" },
  timestamp: { type: "string", value: "<unix|+10m|-6m>", describe: "sign as if it were that time" },
} as const satisfies Record<string, Flag>;

/** What `--data` says, or `otherwise`; refused where there is neither, or where standard input is asked for twice. */
export function requiredData({ args }: Context, example: string, otherwise?: string): string {
  const data = args.text("data") ?? otherwise;
  if (data === undefined) throw usageError("--data is missing.", example);
  if (data === "-" && args.texts("secret-file").includes("-"))
    throw usageError("Only one of --data and --secret-file can be standard input.");
  return data;
}

/** What `--data` means: `@file` and `-` are read as bytes, anything else is the JSON text itself. */
export async function payloadOf(io: Io, data: string): Promise<string | Uint8Array> {
  if (data === "-") return readStdin(io);
  return data.startsWith("@") ? readBytes(data.slice(1)) : data;
}

/** A file's bytes, or a refusal that names it. */
export async function readBytes(path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch {
    throw new CliError(EXIT.setup, "FILE_UNREADABLE", `${path} cannot be read.`);
  }
}
