import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import ts from "typescript";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type FencedBlock, fencedBlocks, ROOT } from "../kit/markdown.js";
import { SECRET } from "../kit/signed-request.js";
import { matches, openStage, parseTranscript, type Stage } from "../kit/transcript.js";
import { packPackages } from "./packed-packages.js";
import { startTarballRegistry, type TarballRegistry } from "./tarball-registry.js";

/** Commands of the two pages that are not a stranger's, and why they are not run here. */
const NOT_RUN: Readonly<Record<string, string>> = {
  "npm ci && npm run demo": "in a clone of the repository: .ci/run does it",
  "npm test": "in a clone of the repository: .ci/run does it",
  "npm run pack": "in a clone of the repository: .ci/run does it",
};

const TENANT = "https://tenant.example.com/api/v1/webhooks/incoming/lst_offboarding";

/** A listener of this machine in the tenant's place, and the call that makes a program of the pages send. */
interface Rehearsal {
  readonly listener: string;
  readonly call?: string;
  /** Starts the listener, where the page has not. */
  readonly before?: string;
}

/** By what the program imports. */
const REHEARSALS: Readonly<Record<string, Rehearsal>> = {
  hmacSigner: {
    listener: "http://127.0.0.1:4420/api/v1/webhooks/incoming/lst_offboarding",
    before: "hookproof listen --port 4420 --no-ui --listener-id lst_offboarding --secret-file secret.txt",
  },
  jwtSigner: {
    listener: "http://127.0.0.1:4411/api/v1/webhooks/incoming/lst_local",
    call: 'await sender.send({ userId: "u_123" });',
  },
};

/** Commands that install for the whole machine: once is enough for both pages. */
const installedForAll = new Set<string>();

let registry: TarballRegistry;
let prefix: string;

beforeAll(async () => {
  registry = await startTarballRegistry();
  prefix = mkdtempSync(join(tmpdir(), "hookproof-prefix-"));
});

afterAll(async () => {
  await registry?.stop();
  rmSync(prefix, { recursive: true, force: true });
});

describe("in an empty folder, with nothing but the packed packages, a stranger follows", () => {
  it.each(["README.md", "docs/guides/quick-start.md"])("%s", async (page) => {
    const stage = await openStage(strangersEnvironment());
    try {
      // What `npm run pack` makes.
      if (page === "README.md") packPackages(join(stage.folder, "work", "packed"));
      for (const block of fencedBlocks(join(ROOT, page))) await follow(stage, block);
    } finally {
      await stage.close();
    }
  });
});

/** The environment of a person who has Node and npm, and no program of this repository on the path. */
function strangersEnvironment(): Record<string, string> {
  const path = (process.env.PATH ?? "").split(delimiter).filter((folder) => !folder.includes("node_modules"));
  const cache = execFileSync("npm", ["config", "get", "cache"], { encoding: "utf8", stdio: "pipe" }).trim();
  return {
    PATH: [join(prefix, "bin"), ...path].join(delimiter),
    npm_config_registry: registry.url,
    npm_config_prefix: prefix,
    npm_config_cache: cache,
    npm_config_update_notifier: "false",
  };
}

async function follow(stage: Stage, { language, text }: FencedBlock): Promise<void> {
  if (language === "sh") return runCommands(stage, text);
  if (language === "console") return playTranscript(stage, text);
  if (language === "ts") return runProgram(stage, text);
  if (language === "mjs") return runAsPasted(stage, text);
  throw new Error(`nobody has said how a block in ${language} is followed`);
}

async function runCommands(stage: Stage, text: string): Promise<void> {
  for (const shown of text.trim().split("\n")) {
    const line = shown.replace(/ +#.*/, "");
    if (line in NOT_RUN || installedForAll.has(line)) continue;
    if (line.startsWith("npm install -g")) installedForAll.add(line);
    const seen = await stage.run(line);
    expect({ line, failed: seen.filter((printed) => printed.startsWith("? ")), seen }).toMatchObject({
      failed: [],
    });
  }
}

async function playTranscript(stage: Stage, text: string): Promise<void> {
  for (const { command, expected } of parseTranscript(text)) {
    const seen = await stage.run(command, true);
    const printed = seen.filter((line) => !line.startsWith("? "));
    if (!matches(expected, printed)) expect({ command, printed }).toEqual({ command, printed: expected });
  }
}

/** Runs a program as a person pastes it; it has to print what came of its event. */
async function runAsPasted(stage: Stage, text: string): Promise<void> {
  await stage.run(`cat > index.mjs << 'END'\n${text}END`);
  const seen = await stage.run("node index.mjs", true);
  expect(seen).toEqual([
    "received { type: 'user.offboarded', userId: 'u_123' }",
    expect.stringMatching(/^accepted [0-9a-f-]{36}$/),
  ]);
}

/** Compiles a program against what was installed, and runs it; it fails unless its event was accepted. */
async function runProgram(stage: Stage, text: string): Promise<void> {
  const [, rehearsal] = Object.entries(REHEARSALS).find(([name]) => text.includes(` ${name} }`)) ?? [];
  if (!rehearsal || !text.includes(TENANT))
    throw new Error(`nobody has said how this program sends:\n${text}`);
  const { listener, call = "", before } = rehearsal;
  const [, shown = ""] = /secret: "([^"]+)"/.exec(text) ?? [];
  const own = text.replace(shown || "no secret", SECRET); // listeners refuse the one of the documentation
  if (before) {
    await stage.run(`umask 077; printf '%s' '${SECRET}' > secret.txt`);
    await stage.run(before, true);
  }
  await stage.run(`cat > program.mts << 'END'\n${own.replace(TENANT, listener)}\n${call}\nEND`);
  expect(compile(join(stage.folder, "work", "program.mts"))).toEqual([]);
  const seen = await stage.run("node program.mjs", true);
  expect({ text, seen, failed: seen.some((line) => line.startsWith("? ")) }).toMatchObject({ failed: false });
}

/** Writes a module's JavaScript beside it, and gives what the compiler says of it. */
function compile(module: string): string[] {
  const { ModuleKind, ScriptTarget } = ts;
  const options = {
    strict: true,
    module: ModuleKind.NodeNext,
    target: ScriptTarget.ES2022,
    skipLibCheck: true,
    types: [],
  };
  const program = ts.createProgram([module], { ...options, lib: ["lib.es2022.d.ts", "lib.dom.d.ts"] });
  program.emit();
  return ts
    .getPreEmitDiagnostics(program)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, " "));
}
