import { readFile } from "node:fs/promises";
import { CliError, EXIT } from "./failure.js";
import { type Io, readStdin } from "./io.js";

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
