import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { root } from "../kit/built-package.js";
import { OURS, VERSION } from "./packed-packages.js";

interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, unknown>>;
}

interface Job {
  readonly needs?: string;
  readonly container?: string;
  readonly environment?: string;
  readonly permissions?: Readonly<Record<string, string>>;
  readonly steps: readonly Step[];
}

interface Workflow {
  readonly on: unknown;
  readonly permissions?: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, Job>>;
}

const FOLDER = join(root, ".github/workflows");
const EXAMPLE = join(root, "examples/github-action.yml");
const textOf = (path: string) => readFileSync(path, "utf8");
const workflows = new Map(readdirSync(FOLDER).map((name) => [name, textOf(join(FOLDER, name))]));
const parsed = (name: string) => parse(workflows.get(name) ?? "") as Workflow;
const jobs = [...workflows.keys()].flatMap((name) =>
  Object.entries(parsed(name).jobs).map(([job, { permissions, ...rest }]) => ({
    name: `${name}: ${job}`,
    permissions: permissions ?? parsed(name).permissions,
    ...rest,
  })),
);

describe("every workflow", () => {
  it("names each action by a commit, with its version next to it", () => {
    const lines = [...workflows.values()].flatMap((text) => text.match(/^.*\buses:.*$/gm) ?? []);
    expect(lines.length).toBeGreaterThan(5);
    for (const line of lines) expect(line).toMatch(/uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
    const versions = new Map<string, Set<string>>();
    for (const line of lines) {
      const [, action = "", pin = ""] = /uses: ([^@]+)@(.*)$/.exec(line) ?? [];
      versions.set(action, (versions.get(action) ?? new Set()).add(pin));
    }
    expect([...versions].filter(([, pins]) => pins.size > 1)).toEqual([]);
  });

  it("gives no job a right but those it names, and leaves no token in a checkout", () => {
    expect(jobs.length).toBeGreaterThan(3);
    for (const { name, permissions } of jobs) {
      expect(permissions, name).toBeDefined();
      expect(Object.values(permissions ?? {}), name).not.toContain("write-all");
    }
    const checkouts = jobs
      .flatMap(({ steps }) => steps)
      .filter(({ uses = "" }) => uses.startsWith("actions/checkout@"));
    expect(checkouts.length).toBeGreaterThan(2);
    for (const { with: given } of checkouts) expect(given).toMatchObject({ "persist-credentials": false });
  });

  it("holds a token only in a job of its own, which runs nothing of the repository or of another package", () => {
    const withToken = jobs.filter(({ permissions = {} }) => Object.values(permissions).includes("write"));
    expect(withToken.map(({ name, permissions }) => [name, permissions])).toEqual([
      ["release.yml: publish", { "id-token": "write" }],
      ["site.yml: publish", { pages: "write", "id-token": "write" }],
    ]);
    for (const { uses = "", run = "" } of withToken.flatMap(({ steps }) => steps)) {
      expect(uses).not.toContain("actions/checkout");
      expect(run).not.toMatch(/\.ci\/|\bnode\b|\bnpx\b|npm (?:ci|i|install|run|exec|test)\b/);
    }
  });

  it("takes nothing that others write into a command", () => {
    const commands = jobs.flatMap(({ name, steps }) => steps.map(({ run = "" }) => ({ name, run })));
    expect(commands.filter(({ run }) => run !== "").length).toBeGreaterThan(5);
    for (const { name, run } of commands)
      expect(run, name).not.toMatch(/\$\{\{|\bsudo\b|\bcurl\b.*\|\s*(?:ba)?sh/);
    for (const text of workflows.values()) expect(text).not.toContain("pull_request_target");
  });

  it("runs .ci/run in Debian's own image, as it installs Debian's packages", () => {
    const running = jobs.filter(({ steps }) => steps.some(({ run }) => run === ".ci/run"));
    expect(running.map(({ name }) => name)).toEqual(["ci.yml: run", "release.yml: pack"]);
    for (const { container } of running) expect(container).toMatch(/^debian:/);
  });
});

it("a pull request runs .ci/run", () => {
  expect(parsed("ci.yml").on).toHaveProperty("pull_request");
});

describe("a release", () => {
  const { pack, publish } = parsed("release.yml").jobs as Record<"pack" | "publish", Job>;

  it("has one job with a token", () => {
    expect(publish.needs).toBe("pack");
    expect(publish.environment).toBe("npm");
  });

  it("publishes the tarballs that were tested, by their digests, each after those it needs", () => {
    const packing = pack.steps.findIndex(({ run = "" }) => run.includes(".ci/pack.mjs"));
    expect(packing).toBeGreaterThan(pack.steps.findIndex(({ run }) => run === ".ci/run"));
    expect(pack.steps[packing]?.run).toContain("sha256sum -- *.tgz");
    const commands = publish.steps.flatMap(({ run = "" }) => run.trim().split("\n"));
    const check = commands.findIndex((line) => line.endsWith("| sha256sum --check --strict"));
    const published = commands.filter((line) => line.startsWith("npm publish"));
    expect(check).toBeGreaterThan(-1);
    expect(commands.findIndex((line) => line.startsWith("npm publish"))).toBeGreaterThan(check);
    expect(published).toEqual(
      OURS.map(
        (name) => `npm publish --provenance --access public --ignore-scripts "./${name}-\${VERSION#v}.tgz"`,
      ),
    );
  });

  it("comes with an SBOM of what a user installs", () => {
    expect(pack.steps.some(({ run = "" }) => run.includes("npm sbom"))).toBe(true);
  });
});

it("nobody is told to run a package of whatever version there is", () => {
  const texts = [...workflows.values(), textOf(EXAMPLE), textOf(join(root, ".ci/run"))];
  const calls = texts.flatMap((text) => text.match(/^[^#\n]*\bnpx .*$/gm) ?? []);
  expect(calls.filter((line) => !/@\d+\.\d+\.\d+|for program in/.test(line))).toEqual([]);
  expect(textOf(EXAMPLE)).toContain(`--package hookproof-cli@${VERSION} `);
});
