import { CliError, EXIT, usageError } from "../failure.js";
import type { Io } from "../io.js";
import { readSession, sessionPorts } from "../serve/sessions.js";
import type { Document } from "./call-command.js";

const LIMIT_MS = 30_000;

/** Asks the inspector of a local listener for something under `api/`; gives the JSON of its answer. */
export async function askInspector(io: Io, port: number, path: string, order?: object): Promise<Document> {
  const { inspector } = readSession(io, port);
  if (inspector === undefined)
    throw new CliError(EXIT.setup, "INSPECTOR_MISSING", `The listener on port ${port} keeps no requests.`, {
      hint: "It was started with --no-ui; start it without.",
    });
  const { origin, hash } = new URL(inspector);
  const answered = async () => {
    const response = await fetch(`${origin}/api/${path}`, {
      method: order === undefined ? "GET" : "POST",
      headers: { "Inspector-Token": hash.slice("#t=".length), origin, "content-type": "application/json" },
      redirect: "error",
      signal: AbortSignal.timeout(LIMIT_MS),
      ...(order === undefined ? {} : { body: JSON.stringify(order) }),
    });
    const answer = (await response.json()) as Document;
    return { answer, failure: response.ok ? undefined : failureOf(answer) };
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
