// Calls the remote control of a running local service.
import { type HeaderPair, HookproofError } from "hookproof";
import { nodeTransport } from "hookproof/node";
import type { Context, Flag } from "../command.js";
import { requireCredentialUrl } from "../credentials/credential-url.js";
import { CONNECTION_FLAGS, PLAIN_HTTP_FLAG } from "../credentials/flags.js";
import { CliError, EXIT } from "../failure.js";
import { agentFor } from "../send/agent.js";
import {
  controlTokenFile,
  DATABASE_FLAG,
  databaseFile,
  readClientSecret,
  readOwnSecret,
} from "./service-database.js";

/** Where the service runs unless a flag says otherwise. */
export const SERVICE_URL = "http://127.0.0.1:4420";

/** The flag of commands that call the running service, or print how. */
export const BASE_URL_FLAG = {
  "base-url": { type: "string", value: "<url>", default: SERVICE_URL, describe: "where the service runs" },
} as const satisfies Record<string, Flag>;

/** The flags of the connection of every command that sends a credential to the service. */
export const SERVICE_CONNECTION_FLAGS = {
  ...CONNECTION_FLAGS,
  ...PLAIN_HTTP_FLAG,
} as const satisfies Record<string, Flag>;

/** The flags of every command of the remote control. */
export const CONTROL_FLAGS = {
  ...DATABASE_FLAG,
  ...BASE_URL_FLAG,
  ...SERVICE_CONNECTION_FLAGS,
  "control-token-file": {
    type: "string",
    value: "<file>",
    describe: "the control token; the one next to the database by default",
    completes: "file",
  },
} as const satisfies Record<string, Flag>;

/** The exit codes of every command of the remote control. */
export const CONTROL_EXITS = [
  [3, "the control token cannot be read"],
  [4, "the service refused the request"],
  [6, "the service does not answer"],
] as const;

/** The address of the service, without a trailing slash. */
export function baseUrlOf({ args }: Pick<Context, "args">): string {
  return (args.text("base-url") ?? SERVICE_URL).replace(/(?<!\/)\/+$/, "");
}

/** The same once a credential may go there. It comes first: no secret is read for an address that is refused. */
export async function serviceUrl(
  { args, config }: Pick<Context, "args" | "config">,
  url = baseUrlOf({ args }),
): Promise<string> {
  await requireCredentialUrl(config, url, "The service's URL");
  return url;
}

/** What an answer may take, where it is more than usual. */
interface Bounds {
  /** However short `--timeout` is. */
  readonly leastTimeoutMs?: number;
  readonly maxResponseBytes?: number;
}

/** Asks the running service for something under `/local/v1`; gives the JSON of a 200. */
export async function askControl(
  context: Pick<Context, "args" | "config" | "io" | "global">,
  method: "GET" | "POST" | "PUT" | "DELETE",
  path: string,
  body?: object,
  { baseUrl, ...bounds }: Bounds & { baseUrl?: string } = {},
): Promise<Record<string, unknown>> {
  const { args, io } = context;
  const url = `${await serviceUrl(context, baseUrl)}/local/v1/${path}`;
  const given = args.text("control-token-file");
  const token =
    given === undefined
      ? readOwnSecret(controlTokenFile(databaseFile(io, args)))
      : await readClientSecret(given);
  const { status, answer } = await exchanged(context, {
    method,
    url,
    headers: [
      ["Authorization", `Bearer ${token}`],
      ["Content-Type", "application/json"],
    ],
    body: body === undefined ? "" : JSON.stringify(body),
    ...bounds,
  });
  if (status === 200) return answer;
  throw new CliError(
    EXIT.refused,
    "CONTROL_REFUSED",
    `The service answered ${status}: ${answer.message ?? "no reason given"}`,
    {
      hint:
        status === 401
          ? "The token belongs to another database; --db or --control-token-file names the right one."
          : undefined,
    },
  );
}

/**
 * Posts to the running service, or asks it, at an address of `serviceUrl`.
 *
 * @throws {CliError} if it does not answer, or its certificate is not trusted
 */
export async function exchanged(
  { args, config, io, global }: Pick<Context, "args" | "config" | "io" | "global">,
  request: { method: string; url: string; headers: readonly HeaderPair[]; body: string } & Bounds,
): Promise<{ status: number; answer: Record<string, unknown> }> {
  const { leastTimeoutMs = 0, maxResponseBytes = 32 * 1024 * 1024, ...rest } = request;
  const { url, body } = rest;
  const { authorityFor } = await import("../send/reach.js");
  const agent = await agentFor(url, {
    ca: authorityFor({ url, config }),
    insecure: args.flag("insecure"),
    io,
  });
  try {
    const answer = await nodeTransport({ agent })({
      ...rest,
      body: Buffer.from(body),
      timeoutMs: Math.max(leastTimeoutMs, global.timeoutMs),
      maxResponseBytes,
    });
    const text = Buffer.from(answer.body).toString("utf8");
    return { status: answer.status, answer: JSON.parse(text) as Record<string, unknown> };
  } catch (error) {
    if (error instanceof HookproofError && error.code === "TLS_FAILED")
      throw new CliError(EXIT.unreachable, error.code, `${url}: ${error.message}`, {
        hint: "--ca <file> names the certificate that the service was started with.",
      });
    throw new CliError(EXIT.unreachable, "CONNECTION_FAILED", `${url} does not answer as the service.`, {
      hint: "hookproof service start runs one; --base-url names one that runs on another port.",
    });
  }
}
