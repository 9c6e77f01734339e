import { validateHeaderName, validateHeaderValue } from "node:http";
import { CliError, EXIT } from "./failure.js";
import { parseExport, type RecordedRequest } from "./history-record.js";
import { type Io, readStdin } from "./io.js";
import { readBytes } from "./payload.js";

/** An event that `events export` has written, from a file or standard input. */
export async function readExport(io: Io, path: string): Promise<RecordedRequest> {
  const bytes = path === "-" ? await readStdin(io) : await readBytes(path);
  const event = parseExport(bytes.toString("utf8"));
  const reason = event ? oddity(event) : "is not an exported event";
  if (event && reason === undefined) return event;
  throw new CliError(EXIT.setup, "EXPORT_INVALID", `${path === "-" ? "Standard input" : path} ${reason}.`, {
    hint: "Write one with: hookproof events export last",
  });
}

/** What no request can have been sent with; undefined for an event that may have been. */
function oddity({ url, headers }: RecordedRequest): string | undefined {
  if (!/^https?:\/\//.test(url) || !URL.canParse(url))
    return `has the URL ${JSON.stringify(url)}, which is none`;
  for (const [name, value] of Object.entries(headers))
    try {
      validateHeaderName(name);
      validateHeaderValue(name, value);
    } catch {
      return `has a header ${JSON.stringify(name.slice(0, 80))} that cannot be sent`;
    }
  return undefined;
}
