import { CliError, EXIT } from "./failure.js";
import { parseExport, type RecordedRequest } from "./history-record.js";
import { type Io, readStdin } from "./io.js";
import { readBytes } from "./payload.js";

/** An event that `events export` has written, from a file or standard input. */
export async function readExport(io: Io, path: string): Promise<RecordedRequest> {
  const bytes = path === "-" ? await readStdin(io) : await readBytes(path);
  const event = parseExport(bytes.toString("utf8"));
  if (event) return event;
  throw new CliError(
    EXIT.setup,
    "EXPORT_INVALID",
    `${path === "-" ? "Standard input" : path} is not an exported event.`,
    { hint: "Write one with: hookproof events export last" },
  );
}
