// A walk through docs/guides/on-call.md: a fault, the alert that fires for it, and the page's own commands.
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { expect, onTestFinished } from "vitest";
import { parse } from "yaml";
import { SECRET } from "../../../test/kit/receiver-server.js";
import { openStage } from "../../../test/kit/transcript.js";
import { run } from "../../src/main.js";

const FILES = join(import.meta.dirname, "../../..");
const PAGE = readFileSync(join(FILES, "docs/guides/on-call.md"), "utf8");
const SECTIONS = new Map(
  PAGE.split(/^## /m)
    .slice(1)
    .map((text) => [text.split("\n")[0] ?? "", text]),
);

interface Rules {
  readonly groups: readonly {
    readonly rules: readonly { readonly alert: string; readonly expr: string }[];
  }[];
}
const RULES = (
  parse(readFileSync(join(FILES, "examples/operating/alerts.yaml"), "utf8")) as Rules
).groups.flatMap(({ rules }) => rules);

/** A command of the page, as printed, and what it says of this fault. */
export type Walked = readonly [printed: string, says: RegExp];

/** What of the page is run on a machine with such an installation only, or has a test of its own. */
const ELSEWHERE =
  /^(?:systemctl|docker|kubectl|journalctl) |^hookproof outbox ui$|^hookproof outbox work --http /;

/** Every command that the page tells somebody to type. */
export function commandsOfPage(): string[] {
  const steps = [...SECTIONS.values()].join("\n");
  const printed = [
    ...steps.matchAll(/`((?:hookproof|curl|psql|systemctl|docker|kubectl|journalctl|SELECT|VACUUM) [^`]+)`/g),
  ];
  return [...new Set(printed.map(([, command = ""]) => command))].filter(
    (command) => !ELSEWHERE.test(command),
  );
}

/** Those for a person at PostgreSQL, which on-call-postgresql.test.ts runs. */
export const AT_POSTGRESQL: readonly string[] = [...SECTIONS.values()]
  .flatMap((text) => [...text.matchAll(/`((?:psql|SELECT|VACUUM) [^`]+)`/g)])
  .map(([, command = ""]) => command);

/** A machine with a worker's configuration, at an outbox. */
export async function machine(outbox: string, listeners: Readonly<Record<string, string>>) {
  const [url = "http://127.0.0.1:1"] = Object.values(listeners);
  const settings = {
    HOOKPROOF_OUTBOX: outbox,
    HOOKPROOF_SECRET: SECRET,
    HOOKPROOF_SECRET_ORIGIN: new URL(url).origin,
    NO_COLOR: "1",
  };
  const stage = await openStage(settings);
  onTestFinished(() => stage.close());
  for (const [name, target] of Object.entries(listeners))
    await stage.run(`hookproof profile add ${name} --target ${target}`);
  let at = "";

  return {
    /** Starts a worker, which ends with the test; gives what it says so far, and the page of its metrics. */
    async worker() {
      const controller = new AbortController();
      const [stdout, stderr] = [new PassThrough(), new PassThrough()];
      const env = { ...settings, HOOKPROOF_HOME: join(stage.folder, "data") };
      const io = { stdin: Readable.from([]), stdout, stderr, env, stopSignal: controller.signal };
      const ended = run(["outbox", "work", "--outbox", outbox, "--http", ":0", "--json"], io);
      let said = "";
      for (const stream of [stdout, stderr])
        stream.on("data", (chunk: Buffer) => {
          said += chunk;
        });
      onTestFinished(async () => {
        controller.abort();
        await ended;
      });
      await Promise.race([once(stdout, "data"), once(stderr, "data")]);
      at = /"http":"([^"]+)"/.exec(said)?.[1] ?? expect.fail(said);
      return { said: () => said };
    },

    /** Runs a command line to its end. */
    start: async (command: string) => (await stage.run(command)).join("\n"),

    /** Waits until the rule of an alert is true of what the worker shows. */
    fires: (alert: string) =>
      expect.poll(() => stands(alert, at), { timeout: 60_000, interval: 100 }).toBe(true),

    /** Runs commands of the section as they are printed, with these words for what stands in angle brackets. */
    async walk(section: string, words: Readonly<Record<string, string>>, commands: readonly Walked[]) {
      for (const [printed, says] of commands) {
        expect(SECTIONS.get(section), section).toContain(`\`${printed}\``);
        const said = (await stage.run(typed(printed, { at, ...words }))).join("\n");
        expect(said, printed).toMatch(says);
      }
    },
  };
}

function typed(printed: string, { at = "", ...words }: Readonly<Record<string, string>>): string {
  const line = /^(?:SELECT|VACUUM) /.test(printed) ? `psql "$HOOKPROOF_OUTBOX" -c "${printed}"` : printed;
  return line
    .replace("http://127.0.0.1:9464", at)
    .replace(/<(\w+)>/g, (all, name: string) => (words[name] === undefined ? all : `'${words[name]}'`));
}

/** Whether the rule's first condition is true of the worker's metrics now; alerts.test.ts has the rule, and its time. */
async function stands(alert: string, at: string): Promise<boolean> {
  const expr = RULES.find((rule) => rule.alert === alert)?.expr ?? expect.fail(alert);
  const [, metric, labels = "", comparison, bound = ""] =
    /(hookproof_\w+)(?:\{([^}]*)\})?.*? (>|==) ([\d* ]+)/.exec(expr.replaceAll(/by \([^)]*\) /g, "")) ??
    expect.fail(expr);
  const limit = bound.split("*").reduce((product, factor) => product * Number(factor), 1);
  const page = await (await fetch(`${at}/metrics`)).text();
  const values = [...page.matchAll(/^(hookproof_\w+)(?:\{(.*)\})? (\S+)$/gm)]
    .filter(([, name, given = ""]) => name === metric && given.includes(labels))
    .map(([, , , value]) => Number(value));
  return values.some((value) => (comparison === ">" ? value > limit : value === limit));
}
