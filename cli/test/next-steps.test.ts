// Every `next:` that a command prints is run as it was printed.
import { spawn } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { beforeAll, expect, it, onTestFinished } from "vitest";
import { itWith } from "../../test/kit/needs.js";
import { hasTool } from "../../test/kit/outside-tool.js";
import { endsWithThis } from "../../test/kit/processes.js";
import { temporaryFolder } from "../../test/kit/temporary-folder.js";
import { requireBuild } from "../../test/kit/transcript.js";
import { failOne, otherProgram } from "./kit/other-program.js";

const CLI = resolve(import.meta.dirname, "..");
const BIN = join(CLI, "bin", "hookproof.cjs");

beforeAll(requireBuild);

/** A folder of its own with a user of its own, in which commands run. */
function world() {
  const folder = temporaryFolder("next");
  const programs = join(folder, "bin");
  mkdirSync(programs);
  writeFileSync(join(programs, "hookproof"), `#!/bin/sh\nexec '${process.execPath}' '${BIN}' "$@"\n`);
  chmodSync(join(programs, "hookproof"), 0o755);
  const cwd = join(folder, "work");
  mkdirSync(cwd);
  const env: NodeJS.ProcessEnv = {
    ...process.env,
    PATH: `${programs}:${process.env.PATH}`,
    HOOKPROOF_HOME: join(folder, "home"),
  };

  /** Runs a command line, to its end or until it has said something: then it goes on until the test is over. */
  const run = async (command: string, until?: RegExp) => {
    const child = spawn("bash", ["-c", command], { cwd, env, detached: true });
    endsWithThis(child);
    child.stdin.end();
    let said = "";
    return new Promise<{ said: string; code: number | null }>((done) => {
      const onText = (text: Buffer) => {
        said += text;
        if (until?.test(said)) done({ said, code: null });
      };
      child.stdout.on("data", onText);
      child.stderr.on("data", onText);
      child.once("close", (code) => done({ said, code }));
      onTestFinished(() => {
        try {
          process.kill(-(child.pid as number), "SIGKILL");
        } catch {
          // It has ended.
        }
      });
    });
  };
  return { cwd, env, run };
}

/** The commands that are worth running next, as printed. */
function nextOf(said: string): string[] {
  return stripVTControlCharacters(said)
    .split(/\r?\n/)
    .filter((line) => line.includes("next: "))
    .flatMap((line) => line.slice(line.indexOf("next: ") + 6).split(/ {3,}(?=or: )/))
    .map((part) => part.replace(/^or: /, "").replace(/ {3,}.*/, ""));
}

/** What one suggested command comes to. */
interface Step {
  /** What it says; a server goes on until then, and for the next step. */
  readonly says: RegExp;
  readonly code?: number;
  readonly serves?: true;
  /** It asks, in a terminal, and is given this. */
  readonly asked?: readonly [question: string, answer: string];
}

interface Story {
  /** The source with the line. */
  readonly of: string;
  /** What the line in the source holds, where that has several. */
  readonly line?: string;
  /** Commands before; the last one prints the line. */
  readonly given: readonly string[];
  /** There is an outbox other.db with a dead letter, or with an event that waits. */
  readonly hasDeadLetter?: true;
  readonly hasWaiting?: true;
  /** The last one says it in a terminal alone. */
  readonly inTerminal?: true;
  /** The last one is a server. */
  readonly serves?: true;
  /** What each of its suggestions comes to. */
  readonly steps: readonly Step[];
}

const SECRET = "QSBrZXkgZm9yIEhvb2twcm9vZiB0ZXN0cyBvbmx5ISE";
const STORIES: readonly Story[] = [
  {
    of: "commands/listen.ts",
    given: ["hookproof listen --port 0"],
    serves: true,
    steps: [{ says: /✔ 200/ }],
  },
  {
    of: "commands/listen.ts",
    given: [
      "hookproof keys generate",
      "hookproof jwks export --out keys.json",
      "hookproof listen --port 0 --jwks keys.json",
    ],
    serves: true,
    steps: [{ says: /✔ 200/ }],
  },
  {
    of: "send/send-one.ts",
    given: ["hookproof listen --port 0", "hookproof send $URL --data '{}'"],
    steps: [{ says: /409/ }],
  },
  {
    of: "send/explain-refusal.ts",
    given: [
      "HOOKPROOF_HOME=$PWD/other hookproof listen --port 0",
      "hookproof profile add there --target $URL --config other.json",
      "hookproof secret generate --profile there --config other.json",
      "hookproof send --profile there --config other.json --data '{}'",
    ],
    steps: [{ says: /no known mistake explains it/, code: 7 }],
  },
  {
    of: "commands/outbox-status.ts",
    hasDeadLetter: true,
    given: ["hookproof outbox status --outbox other.db"],
    steps: [{ says: /refused: 400/ }],
  },
  {
    of: "commands/outbox-dead.ts",
    hasDeadLetter: true,
    given: ["hookproof outbox dead --outbox other.db --listener offboarding"],
    steps: [{ says: /400/ }, { says: /^1 dead letter would be redriven/m }],
  },
  {
    of: "commands/outbox-control.ts",
    line: "outbox attempts",
    hasWaiting: true,
    inTerminal: true,
    given: ["hookproof outbox list --outbox other.db"],
    steps: [{ says: /offboarding/ }],
  },
  {
    of: "commands/outbox-control.ts",
    line: "outbox resume",
    hasDeadLetter: true,
    given: ["hookproof outbox pause offboarding --outbox other.db"],
    steps: [{ says: /offboarding {2}resumed/ }],
  },
  {
    of: "commands/outbox-create.ts",
    given: [
      "hookproof profile add offboarding --target https://hooks.example.com/api/v1/webhooks/incoming/lst_1",
      "hookproof secret generate --profile offboarding",
      "hookproof outbox create --outbox new.db",
    ],
    steps: [{ says: /new\.db/, serves: true }],
  },
  {
    of: "commands/jwks-serve.ts",
    given: ["hookproof keys generate", "hookproof jwks serve --port 0"],
    serves: true,
    steps: [{ says: /next: /, serves: true }],
  },
  {
    of: "commands/keys.ts",
    given: ["hookproof keys generate --store keys"],
    steps: [{ says: /next: /, serves: true }],
  },
  { of: "commands/explain.ts", given: ["hookproof explain decoded"], steps: [{ says: /decoded/ }] },
  {
    of: "commands/explain.ts",
    given: ["hookproof explain svix"],
    steps: [{ says: /fix|why/ }],
  },
  {
    of: "commands/service.ts",
    line: "hookproof service start",
    given: ["hookproof service seed --db team.db"],
    steps: [{ says: /next: /, serves: true }],
  },
  {
    of: "commands/service.ts",
    line: "curl",
    given: [
      "hookproof service start --db team.db --port 0",
      "hookproof service routes --db team.db --base-url $URL",
    ],
    steps: [{ says: /\{"/ }],
  },
  {
    of: "commands/service-start.ts",
    given: ["hookproof service start --db team.db --port 0"],
    serves: true,
    steps: [{ says: /http:\/\/127\.0\.0\.1:(?!4420)\d+/ }],
  },
  {
    of: "commands/service-state.ts",
    given: [
      "hookproof service seed --db team.db",
      "hookproof service export --db team.db --out 'the team.yaml'",
    ],
    steps: [{ says: /next: /, serves: true }],
  },
  {
    of: "commands/profile.ts",
    line: "secret set",
    given: [
      "hookproof profile add staging --target https://hooks.example.com/api/v1/webhooks/incoming/lst_1 --config other.json",
    ],
    steps: [{ says: /stored|signs for|…/, asked: ["ecret", SECRET] }, { says: /staging/ }],
  },
  {
    of: "commands/profile.ts",
    line: "? `next",
    given: ["hookproof profile add keyed --target :4400 --method jwt --key release-key --config other.json"],
    steps: [{ says: /keyed/ }],
  },
  {
    of: "commands/secret.ts",
    given: ["hookproof secret generate --profile staging"],
    steps: [{ says: /^[\w-]{43}$/m }],
  },
  {
    of: "commands/events.ts",
    given: ["hookproof listen --port 0", "hookproof send $URL --data '{}'", "hookproof events list"],
    steps: [{ says: /accepted/ }],
  },
  {
    of: "commands/verify.ts",
    given: [
      "hookproof listen --port 0 --write-secret secret.txt",
      "hookproof sign $URL --secret-file secret.txt --data '{}' --curl > request.txt",
      "hookproof verify request.txt --secret-file secret.txt --url $URL",
    ],
    steps: [{ says: /, 0 fail, / }],
  },
  {
    of: "commands/init.ts",
    line: "secret show",
    given: ["hookproof init --yes --target https://hooks.example.com/api/v1/webhooks/incoming/lst_1"],
    steps: [{ says: /^[\w-]{43}$/m }, { says: /…/, asked: ["ecret", SECRET] }],
  },
  {
    of: "commands/init.ts",
    line: "secret generate",
    given: [
      "hookproof init --yes --target https://hooks.example.com/api/v1/webhooks/incoming/lst_1",
      "hookproof init --yes --force --target https://other.example.com/api/v1/webhooks/incoming/lst_1",
    ],
    steps: [{ says: /other\.example\.com/, asked: ["Replace", "y"] }],
  },
  {
    of: "commands/init.ts",
    line: "jwks serve",
    given: [
      "hookproof init --yes --method jwt --target https://hooks.example.com/api/v1/webhooks/incoming/lst_1",
    ],
    steps: [{ says: /next: /, serves: true }],
  },
];

const IN_TERMINAL = join(import.meta.dirname, "kit", "in-terminal.py");
const hasPython = hasTool("/usr/bin/python3", "--version");

for (const { of, given, steps, serves, hasDeadLetter, hasWaiting, inTerminal } of STORIES) {
  const needs = inTerminal || steps.some(({ asked }) => asked) ? itWith("python3", hasPython) : it;
  needs(`${of}: ${given.at(-1)}`, async () => {
    const { cwd, env, run } = world();
    if (hasDeadLetter || hasWaiting) {
      const program = otherProgram(join(cwd, "other.db"));
      await program.outbox.enqueue({ listener: "offboarding", payload: {} });
      if (hasDeadLetter) await failOne(program);
      await program.store.close();
    }
    let said = "";
    for (const [place, command] of given.entries()) {
      const isLast = place === given.length - 1;
      const until = (isLast && serves) || command.includes(" --port ") ? /next: .*\n/ : undefined;
      const ran = await run(
        isLast && inTerminal ? `/usr/bin/python3 ${IN_TERMINAL} [] ${command}` : command,
        until,
      );
      ({ said } = ran);
      env.URL ??= until && /^http\S+/m.exec(said)?.[0];
      if (!until && !isLast) expect(ran, command).toMatchObject({ code: 0 });
    }
    const commands = nextOf(said);
    expect(commands, said).toHaveLength(steps.length);
    for (const [place, { says, code = 0, serves: isServer, asked }] of steps.entries()) {
      const printed = commands[place] ?? "";
      const port = isServer && !/ outbox /.test(printed) ? " --port 0" : "";
      env.DIALOGUE = JSON.stringify([asked]);
      const command = asked ? `/usr/bin/python3 ${IN_TERMINAL} "$DIALOGUE" ${printed}` : `${printed}${port}`;
      const ran = await run(command, isServer && says);
      expect(ran.said, command).toMatch(says);
      expect(ran.code, `${command}\n${ran.said}`).toBe(isServer ? null : code);
    }
  });
}

const FOLDER = join(CLI, "src");
const SOURCES = readdirSync(FOLDER, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".ts"))
  .map((name) => name.replaceAll("\\", "/"))
  .map((name) => ({ name, lines: readFileSync(join(FOLDER, name), "utf8").split("\n") }));

it("every place that prints such a line has its story", () => {
  const places = SOURCES.filter(({ name }) => !["main.ts", "terminal/layout.ts"].includes(name)).flatMap(
    ({ name, lines }) =>
      lines
        .filter((line) => /(?:note\(|next = |`|")[^"`\n]*(?<!\\S)next: (?!published)|next = cause/.test(line))
        .map((line) => ({ of: name, line: line.trim() })),
  );
  const isOf = (place: (typeof places)[number]) => (story: Story) =>
    story.of === place.of && place.line.includes(story.line ?? "");
  expect(places.filter((place) => !STORIES.some(isOf(place)))).toEqual([]);
  const loose = STORIES.filter((story) => places.filter((place) => isOf(place)(story)).length !== 1);
  expect(loose.map(({ of, line }) => ({ of, line }))).toEqual([]);
});

/** Texts that stand for all, or name a command without its place: no one is told to run them as they are. */
const GENERAL = ["config/config-file.ts", "config/settings.ts", "schemes/", "explain/", "keys/keys.ts"];

it("a hint's command about profiles, secrets, keys or outboxes goes where this one was told to look", () => {
  const COMMAND =
    /(?<!nextStep\([^"`]*)["`][^"`]*hookproof (?:profile (?:add|list)|secret (?:set|generate)|keys generate|outbox [a-z]+|service automation)\b/;
  const bare = SOURCES.filter(({ name }) => !GENERAL.some((general) => name.startsWith(general))).flatMap(
    ({ name, lines }) =>
      lines
        .filter((line) => COMMAND.test(line))
        .filter((line) => !/^\s*(?:\[|["'`](?:then: |[^"]*\| )?hookproof |details:|\*|\/\/)/.test(line))
        .map((line) => `${name}: ${line.trim()}`),
  );
  expect(bare).toEqual([]);
});
