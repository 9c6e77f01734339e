// Asks the inspector of a local listener for a tool.
import { nodeTransport } from "hookproof/node";
import { CliError, EXIT, usageError } from "../failure.js";
import type { Io } from "../io.js";
import { readSession, sessionPorts } from "../serve/sessions.js";
import type { Document } from "./call-command.js";

const LIMIT_MS = 30_000;
/** A request with a body of 64 KiB has its bytes several times in it; a hundred rows have less. */
const LIMIT_BYTES = 8 * 1024 * 1024;

/** Asks the inspector of a local listener for something under `api/`; gives the JSON of its answer. */
export async function askInspector(io: Io, port: number, path: string, order?: object): Promise<Document> {
  const { inspector } = readSession(io, port);
  if (inspector === undefined)
    throw new CliError(EXIT.setup, "INSPECTOR_MISSING", `The listener on port ${port} keeps no requests.`, {
      hint: "It was started with --no-ui; start it without.",
    });
  const { origin, hash } = new URL(inspector);
  const answered = async () => {
    const { status, body, truncated } = await nodeTransport()({
      method: order === undefined ? "GET" : "POST",
      url: `${origin}/api/${path}`,
      headers: [
        ["Inspector-Token", hash.slice("#t=".length)],
        ["Origin", origin],
        ["Content-Type", "application/json"],
      ],
      timeoutMs: LIMIT_MS,
      maxResponseBytes: LIMIT_BYTES,
      ...(order === undefined ? {} : { body: Buffer.from(JSON.stringify(order)) }),
    });
    const answer: unknown = truncated ? undefined : JSON.parse(Buffer.from(body).toString("utf8"));
    if (!isObject(answer)) throw new TypeError("no answer of an inspector");
    return { answer, failure: status === 200 ? undefined : failureOf(answer) };
  };
  // Somebody else may have the port of a listener that was killed.
  const { answer, failure } = await answered().catch(() => {
    throw new CliError(
      EXIT.unreachable,
      "CONNECTION_FAILED",
      `The listener on port ${port} does not answer: it seems to have ended.`,
      { hint: `Start one with: hookproof listen --port ${port}` },
    );
  });
  if (failure) throw failure;
  return answer;
}

function isObject(value: unknown): value is Document {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function failureOf({ code, message }: Document): CliError {
  return new CliError(EXIT.setup, String(code), String(message));
}

/** The port that was given, or the only local listener's. */
export function portOf(io: Io, given: unknown): number {
  if (typeof given === "number") return given;
  const ports = sessionPorts(io);
  const [only] = ports;
  if (only !== undefined && ports.length === 1) return only;
  if (only !== undefined)
    throw usageError(`Several listeners run: give one of the ports ${ports.join(", ")}.`);
  throw new CliError(EXIT.setup, "SESSION_MISSING", "No hookproof listener is running.", {
    hint: "Start one with: hookproof listen",
  });
}
