import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { existsSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { endsWithThis } from "./processes.js";

/** What a command line came to. */
interface Outcome {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number;
}

/** Where and how a command line runs. */
interface Place {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** That of the process before, if it is not given. */
  readonly umask?: number;
}

/** Runs command lines of `hookproof` in processes that run one after another: most of what one takes is to start Node. */
export interface CommandHost {
  /** With `isStopped` the user has asked for its end already, so that a server starts and ends. */
  run(words: readonly string[], options?: Partial<Place> & { isStopped?: boolean }): Promise<Outcome>;
  close(): Promise<void>;
}

/** So many stories are told at once, and some commands wait. */
const MOST = 4;

/** The processes of all hosts of this one; each begins when it is first needed, and all end with the last host. */
const pool = {
  hosts: 0,
  all: new Set<ChildProcess>(),
  idle: [] as ChildProcess[],
  waiting: [] as ((child: ChildProcess) => void)[],
};

function start(): ChildProcess {
  const child = fork(join(import.meta.dirname, "command-host.mjs"), {
    cwd: tmpdir(),
    execArgv: ["no-dns.cjs", "cheap-scrypt.cjs"].flatMap((file) => [
      "--require",
      join(import.meta.dirname, file),
    ]),
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  endsWithThis(child);
  pool.all.add(child);
  child.once("close", () => {
    pool.all.delete(child);
    pool.idle = pool.idle.filter((one) => one !== child);
    if (pool.waiting.length > 0) pool.waiting.shift()?.(start());
  });
  return child;
}

async function taken(): Promise<ChildProcess> {
  const child = pool.idle.pop();
  if (child) return child;
  return pool.all.size < MOST ? start() : new Promise((resolve) => pool.waiting.push(resolve));
}

function givenBack(child: ChildProcess): void {
  const next = pool.waiting.shift();
  if (next) next(child);
  else pool.idle.push(child);
}

/** Runs command lines there. One that does not end in `limitMs` is an error, and the end of its process. */
export function commandHost(cwd: string, env: NodeJS.ProcessEnv, limitMs: number): CommandHost {
  pool.hosts += 1;
  return {
    async run(words, { isStopped = false, ...place } = {}) {
      const child = await taken();
      return new Promise((done, reject) => {
        const timer = setTimeout(() => child.kill("SIGKILL"), limitMs);
        const onEnd = () => {
          clearTimeout(timer);
          reject(new Error(`ended its process, or did not end: hookproof ${words.join(" ")}`));
        };
        child.once("close", onEnd);
        child.once("message", (outcome) => {
          clearTimeout(timer);
          child.off("close", onEnd);
          givenBack(child);
          done(outcome as Outcome);
        });
        child.send({ words, isStopped, cwd, env, ...place });
      });
    },
    async close() {
      pool.hosts -= 1;
      if (pool.hosts > 0) return;
      const closed = [...pool.all].map((child) => once(child, "close"));
      for (const child of pool.all) child.kill("SIGKILL");
      await Promise.all(closed);
    },
  };
}

/** What bash takes as it stands: letters, what is in single quotes, and what is in double ones but for `$` and its like. */
const WORD = /(?:[\w@%+=:,./-]|'[^']*'|"[^"$`\\!]*")+/y;

/** A filter that reads all it is given, so that the `hookproof` before it cannot notice it. */
const FILTER = /^\| (?!.*(?:hookproof|head|grep -[qm]))(?:tail|jq|wc|cut|grep|tr|sed)\b/s;

/** The words of a command line of one `hookproof`, and the filter behind it; nothing where bash has more to do. */
export function simpleCommand(command: string): { words: string[]; filter: string } | undefined {
  const text = command.replaceAll("\\\n", "");
  const words: string[] = [];
  let at = 0;
  while (at < text.length && text[at] !== "|") {
    WORD.lastIndex = at;
    const [word] = WORD.exec(text) ?? [];
    at += word?.length ?? 0;
    if (word === undefined || !(at === text.length || text[at] === " ")) return undefined;
    words.push(word.replace(/'([^']*)'|"([^"]*)"/g, "$1$2"));
    while (text[at] === " ") at++;
  }
  const filter = text.slice(at);
  return words.shift() === "hookproof" && (filter === "" || FILTER.test(filter))
    ? { words, filter: filter.slice(1) }
    : undefined;
}

/** What a process shows beside what it prints: who reads it and how long, a signal, Node's own settings, a full disk. */
const OF_A_PROCESS =
  /\b(?:head|pipefail|kill|wait|ulimit|exec)\b|grep -\w*[qm]|NODE_|\/dev\/(?:full|tty)|(?<![<>&])&(?![&>\d])/;

/** Whether a command of bash gives the same with each `hookproof` in it run by a host. */
export function takesHost(command: string): boolean {
  return command.includes("hookproof") && !OF_A_PROCESS.test(command);
}

/**
 * Answers what `hookproof` of `script` asks, which bash reads before a command (BASH_ENV): it hands over its words, its
 * folder and its environment, and shows what the host says. With anything on its standard input it is a process as elsewhere.
 */
export async function shellHost(
  host: CommandHost,
  folder: string,
): Promise<{ script: string; close(): void }> {
  let count = 0;
  const server = createServer((socket) => {
    let asked = "";
    socket.on("error", () => {}); // its bash was ended
    socket.on("data", async (chunk) => {
      asked += chunk; // of whole characters, see below
      if (!asked.endsWith("\0\0\n")) return;
      const [cwd = "", umask = "", words = "", ...rest] = asked.slice(0, -3).split("\0");
      const variables = rest.splice(Number(words)).map((one) => one.split(/=(.*)/s).slice(0, 2));
      const env = Object.fromEntries(variables) as Record<string, string>;
      const file = join(folder, `said-${++count}`);
      const place = { cwd, env, umask: Number.parseInt(umask, 8) };
      const { stdout, stderr, code } = await host
        .run(rest, place)
        .catch((error) => ({ stdout: "", stderr: String(error), code: 255 }));
      if (!existsSync(folder)) return void socket.destroy(); // the stage was closed meanwhile
      writeFileSync(`${file}.out`, stdout);
      writeFileSync(`${file}.err`, stderr);
      socket.end(`${code} ${file}\n`);
    });
    socket.setEncoding("utf8");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const script = join(folder, "hookproof.sh");
  writeFileSync(
    script,
    `unset BASH_ENV
hookproof() {
  [[ /dev/stdin -ef /dev/null ]] || { command hookproof "$@"; return; }
  local code file text
  exec {host}<>/dev/tcp/127.0.0.1/${(server.address() as AddressInfo).port}
  { printf '%s\\0' "$PWD" "$(umask)" $# "$@"; env -0; printf '\\0\\n'; } >&$host
  IFS=' ' read -r code file <&$host
  exec {host}>&-
  IFS= read -rd '' text <"$file.out"
  printf %s "$text"
  IFS= read -rd '' text <"$file.err"
  printf %s "$text" >&2
  return "$code"
}
`,
  );
  return { script, close: () => server.close() };
}
