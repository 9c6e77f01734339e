import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import manifest from "../../cli/package.json" with { type: "json" };
import { root } from "../kit/built-package.js";
import { fencedBlocks } from "../kit/markdown.js";
import { itWith, POSIX } from "../kit/needs.js";
import { emptyDatabase, testPostgres } from "../kit/postgres.js";
import { openStage, type Stage } from "../kit/transcript.js";
import { startTarballRegistry, type TarballRegistry } from "./tarball-registry.js";

/**
 * A request that was signed with the decoded secret. Both signatures are those of the specification's example
 * (vectors/protocol.json), made by openssl.
 */
const CAPTURED = `POST /api/v1/webhooks/incoming/lst_1 HTTP/1.1
Host: tenant.example.com
Content-Type: application/json
Webhook-Timestamp: 1767225600
Webhook-Event-Id: 0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10
Webhook-Signature: 5IR7O7M7coTagTYFSQcd_pWFTM8MOOcTqzRb4CF0BqA

{"type":"user.offboarded","userId":"u_123"}`;
const SECRET = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";

let registry: TarballRegistry;
let prefix: string;
let stage: Stage;

beforeAll(async () => {
  registry = await startTarballRegistry();
  prefix = mkdtempSync(join(tmpdir(), "hookproof-prefix-"));
  const path = (process.env.PATH ?? "").split(delimiter).filter((folder) => !folder.includes("node_modules"));
  const cache = execFileSync("npm", ["config", "get", "cache"], { encoding: "utf8", stdio: "pipe" }).trim();
  stage = await openStage({
    PATH: [join(prefix, "bin"), ...path].join(delimiter),
    HOOKPROOF_HOME: "", // nothing but an empty HOME
    npm_config_registry: registry.url,
    npm_config_prefix: prefix,
    npm_config_cache: cache,
    npm_config_update_notifier: "false",
  });
});

const postgres = await testPostgres();
afterAll(async () => {
  await postgres?.stop();
  await stage?.close();
  await registry?.stop();
  rmSync(prefix, { recursive: true, force: true });
});

/** What a newcomer's whole path may take: some three times what it does on a busy machine of two processors. */
const MAX_PATH_MS = 180_000;
let pathMs = 0;

/** Runs steps as a person would, and tells how long they took. */
async function timed(what: string, ...commands: readonly string[]): Promise<string[]> {
  const begun = performance.now();
  const seen: string[] = [];
  for (const command of commands) seen.push(...(await stage.run(command)));
  const tookMs = performance.now() - begun;
  pathMs += tookMs;
  console.info(`${what}: ${(tookMs / 1000).toFixed(1)} s`);
  return seen;
}

describe("installed for the whole machine into an empty prefix, from an empty home", () => {
  it("is there after one command", async () => {
    const seen = await timed("npm install -g hookproof-cli", "npm install -g hookproof-cli");
    expect(seen.filter((line) => line.startsWith("? ") || /warn|deprecated/i.test(line))).toEqual([]);
    expect(await stage.run("hookproof --version")).toEqual([manifest.version]);
  });

  it("has a webhook accepted after two more", async () => {
    const seen = await timed(
      "from nothing to an accepted webhook",
      "hookproof listen &",
      "hookproof send :4400 --event user.offboarded",
    );
    expect(seen[0]).toBe("http://127.0.0.1:4400/api/v1/webhooks/incoming/lst_local");
    expect(seen.join("\n")).toMatch(/^✔ 200 accepted, automation triggered/m);
    expect(existsSync(join(stage.folder, ".local/share/hookproof"))).toBe(true);
  });

  it("says why a request got 401 after one", async () => {
    await stage.run(
      `umask 077; printf %s '${SECRET}' > secret.txt; cat > captured.http << 'END'\n${CAPTURED}\nEND`,
    );
    await stage.run("truncate -s -1 captured.http"); // the shell's own line end
    const seen = await timed(
      "from a 401 to its cause",
      "hookproof verify captured.http --secret-file secret.txt --ignore-time",
    );
    expect(seen.join("\n")).toContain("base64url-decoded first");
    expect(seen.at(-1)).toBe("? 7");
  });

  itWith("postgresql", postgres)(
    "has a first event delivered through PostgreSQL after two more",
    async () => {
      const database = await emptyDatabase(postgres?.url ?? "", "newcomer");
      mkdirSync(join(stage.folder, "work/app"));
      copyFileSync(join(root, "examples/outbox-postgresql.mjs"), join(stage.folder, "work/app/index.mjs"));
      // As the guide says it, but for the port: the first listener still runs.
      const [block] = fencedBlocks(join(root, "docs/guides/outbox-postgresql.md")).filter(
        ({ language, text }) => language === "sh" && text.includes("--write-secret"),
      );
      const lines = block?.text.replace("--write", "--port 4411 --no-ui --write").replace("4400", "4411");
      const [listen, settings, program] = lines?.trimEnd().split("\n") ?? [];
      expect((await stage.run("hookproof secret show")).join("\n")).toContain("listen --write-secret <file>");
      const seen = await timed(
        "from an empty folder to an event that was delivered through PostgreSQL",
        "cd app && npm init --yes --silent > made.txt && npm install --silent hookproof pg",
        `${listen} &`,
        `cp secret.key app; cd app; export DATABASE_URL=${database}; ${settings}; ${program} > said.txt & \
        until grep -qs delivered said.txt; do sleep 0.1; done; kill $!; wait $!; cat said.txt; \
        hookproof outbox status --outbox ${database}`,
      );
      const [url, stored, delivered, ...status] = seen;
      expect(url).toMatch(/^http/);
      expect(stored).toBe("offboarded u_123");
      expect(delivered).toMatch(/^delivered [0-9a-f-]{36}$/);
      expect(status.join("\n")).toMatch(/offboarding .*\b1\b/);
      expect(seen.filter((line) => /^[!?] /.test(line))).toEqual([]);
    },
  );

  it("tests the listener, and has its verdict", async () => {
    const seen = await timed("from a listener to its verdict", "hookproof test :4400 --allow-trigger");
    expect(seen.join("\n")).toMatch(/^✔ 107 pass, 0 fail, 0 unclear, 0 skipped$/m);
  });

  it("has come all this way in under three minutes", () => {
    expect(pathMs).toBeGreaterThan(0);
    expect(pathMs).toBeLessThan(MAX_PATH_MS);
  });

  itWith(...POSIX)("has its manual pages where man looks", () => {
    for (const page of manifest.man) {
      const path = join(prefix, "share/man/man1", page.replace("./man/", ""));
      expect(readFileSync(path, "utf8"), page).toContain(".SH NAME");
    }
  });

  it("installs the completion of a shell", async () => {
    const seen = await stage.run("SHELL=/bin/bash hookproof completion bash --install --yes");
    expect(seen.filter((line) => line.startsWith("? "))).toEqual([]);
    const file = join(stage.folder, ".local/share/bash-completion/completions/hookproof");
    expect(readFileSync(file, "utf8")).toContain("hookproof complete-words");
    expect(
      (await stage.run("hookproof completion bash --uninstall --yes")).filter((line) =>
        line.startsWith("? "),
      ),
    ).toEqual([]);
    expect(existsSync(file)).toBe(false);
  });

  it("leaves nothing behind when it is removed", async () => {
    await stage.run("npm uninstall -g hookproof-cli");
    expect(existsSync(join(prefix, "bin/hookproof"))).toBe(false);
    expect(existsSync(join(prefix, "share/man/man1/hookproof.1"))).toBe(false);
  });
});
