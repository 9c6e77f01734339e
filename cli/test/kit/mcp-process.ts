import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { onTestFinished } from "vitest";
import { temporaryFolder } from "../../../test/kit/temporary-folder.js";

/** The command as it is built. */
export const BIN = resolve(import.meta.dirname, "../../bin/hookproof.cjs");

const NO_DNS = resolve(import.meta.dirname, "../../../test/kit/no-dns.cjs");

/** Settings of a profile, as a configuration file has them. */
type Profiles = Readonly<
  Record<string, { readonly target?: string; readonly secretFiles?: readonly string[] }>
>;

/** A user's home with a project of its own. */
export interface Home {
  readonly folder: string;
  readonly env: Record<string, string>;
  configure(profiles: Profiles): void;
  /** Runs a command to its end; gives its standard output. */
  run(...words: string[]): string;
  /** What a listener wrote down for its senders: among it its secret and the inspector's token. */
  session(port: number): { readonly secret: string; readonly inspector: string };
}

export function openHome(): Home {
  const folder = temporaryFolder("mcp");
  mkdirSync(join(folder, "work"));
  const { PATH = "", TMPDIR } = process.env;
  const env = {
    PATH,
    HOME: folder,
    HOOKPROOF_HOME: join(folder, "data"),
    NODE_OPTIONS: `--require=${NO_DNS}`,
    ...(TMPDIR ? { TMPDIR } : {}),
  };
  return {
    folder: join(folder, "work"),
    env,
    configure: (profiles) =>
      writeFileSync(
        join(folder, "work", "hookproof.config.json"),
        JSON.stringify({ retries: 0, timeout: "60s", profiles }),
      ),
    run: (...words) =>
      execFileSync(process.execPath, [BIN, ...words], { cwd: join(folder, "work"), env, encoding: "utf8" }),
    session: (port) => JSON.parse(readFileSync(join(folder, "data/sessions", `${port}.json`), "utf8")),
  };
}

/** A message of the protocol, as it stands on a line. */
export interface Message {
  readonly jsonrpc?: string;
  readonly id?: unknown;
  readonly method?: string;
  readonly result?: { readonly content?: readonly { text: string }[]; readonly isError?: boolean } & Record<
    string,
    unknown
  >;
  readonly error?: { readonly code: number; readonly message: string };
}

/** The documents in a result: what stands behind the note on where they come from. */
export function documentsOf(result: Message["result"] | undefined): Record<string, unknown>[] {
  const lines = result?.content?.[1]?.text.split("\n") ?? [];
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

/** `hookproof mcp` as a process, spoken to in lines of JSON. */
export interface McpProcess {
  readonly child: ChildProcess;
  /** All that was written so far. */
  readonly seen: { stdout: string; stderr: string };
  /** The exit code, or the signal that ended it. */
  readonly ended: Promise<number | string | null>;
  write(line: string): void;
  /** The answer to a request. */
  request(method: string, params?: object): Promise<Message>;
  /** The documents of a tool's answer. */
  call(name: string, input?: object): Promise<Record<string, unknown>[]>;
}

export function startMcp({ folder, env }: Home, ...flags: string[]): McpProcess {
  const child = spawn(process.execPath, [BIN, "mcp", ...flags], { cwd: folder, env });
  const seen = { stdout: "", stderr: "" };
  const waiting = new Map<unknown, (message: Message) => void>();
  let rest = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    seen.stdout += text;
    const lines = `${rest}${text}`.split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const message = JSON.parse(line) as Message;
      waiting.get(message.id)?.(message);
    }
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    seen.stderr += text;
  });
  child.stdin.on("error", () => {}); // it may end before it has read everything
  const ended = new Promise<number | string | null>((resolve) => {
    child.once("close", (code, signal) => resolve(code ?? signal));
  });
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  let last = 0;
  const write = (line: string) => void child.stdin.write(`${line}\n`);
  function request(method: string, params?: object): Promise<Message> {
    const id = ++last;
    const answered = new Promise<Message>((resolve) => waiting.set(id, resolve));
    write(JSON.stringify({ jsonrpc: "2.0", id, method, ...(params ? { params } : {}) }));
    const isOver = ended.then((code) => {
      throw new Error(`hookproof mcp ended with ${code}: ${seen.stderr}`);
    });
    return Promise.race([answered, isOver]);
  }
  return {
    child,
    seen,
    ended,
    write,
    request,
    async call(name, input = {}) {
      return documentsOf((await request("tools/call", { name, arguments: input })).result);
    },
  };
}

/** What a client says first. */
export const INITIALIZE = {
  protocolVersion: "2025-06-18",
  capabilities: {},
  clientInfo: { name: "by-hand", version: "1" },
};
