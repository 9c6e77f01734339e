import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { endsWithThis } from "./processes.js";

/** What a command line came to. */
interface Outcome {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number;
}

/** A process that runs one command line of `hookproof` after another: most of what one takes is to start Node. */
export interface CommandHost {
  /** With `isStopped` the user has asked for its end already, so that a server starts and ends. */
  run(words: readonly string[], options?: { isStopped?: boolean }): Promise<Outcome>;
  close(): Promise<void>;
}

/** Starts with its first command. One that does not end in `limitMs` is an error, and the end of the process; the next starts another. */
export function commandHost(cwd: string, env: NodeJS.ProcessEnv, limitMs: number): CommandHost {
  let host: ChildProcess | undefined;
  const start = () => {
    const child = fork(join(import.meta.dirname, "command-host.mjs"), {
      cwd,
      env,
      execArgv: ["--require", join(import.meta.dirname, "no-dns.cjs")],
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    });
    endsWithThis(child);
    return child;
  };
  return {
    async run(words, { isStopped = false } = {}) {
      host ??= start();
      const child = host;
      return new Promise((done, reject) => {
        const timer = setTimeout(() => child.kill("SIGKILL"), limitMs);
        const onEnd = () => {
          clearTimeout(timer);
          host = undefined;
          reject(new Error(`ended its process, or did not end: hookproof ${words.join(" ")}`));
        };
        child.once("close", onEnd);
        child.once("message", (outcome) => {
          clearTimeout(timer);
          child.off("close", onEnd);
          done(outcome as Outcome);
        });
        child.send({ words, isStopped });
      });
    },
    async close() {
      if (!host || host.exitCode !== null || host.signalCode !== null) return;
      const closed = once(host, "close");
      host.kill("SIGKILL");
      await closed;
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
