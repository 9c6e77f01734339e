import { execFile } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, expect, it } from "vitest";
import { root } from "../kit/built-package.js";
import { EXAMPLES } from "../kit/example-process.js";
import { fencedBlocks } from "../kit/markdown.js";
import { describeWith, itWith } from "../kit/needs.js";
import { hasTool } from "../kit/outside-tool.js";
import { temporaryFolder } from "../kit/temporary-folder.js";
import { requireBuild } from "../kit/transcript.js";

beforeAll(requireBuild);

const COMMAND = `${process.execPath} ${root}/cli/bin/hookproof.cjs`;

/** Runs a suite in another language, which starts the built command line. */
async function run(tool: string, name: string): Promise<string> {
  const env = { ...process.env, HOOKPROOF: COMMAND };
  const { stdout, stderr } = await promisify(execFile)(tool, [join(EXAMPLES, name)], { env });
  return stdout + stderr;
}

itWith("python3", hasTool("python3", "--version"))(
  "local-service.py is a suite on a service of its own",
  async () => expect(await run("python3", "local-service.py")).toMatch(/^Ran 3 tests in .*\n\nOK$/m),
);

itWith("java", hasTool("java", "--version"))("LocalService.java checks a service of its own", async () => {
  expect((await run("java", "LocalService.java")).trim().split("\n")).toEqual([
    "ok reads a name",
    "ok asks once",
    "ok survives an outage",
    "ok asks until it is over",
  ]);
});

/** Runs a program with a command for the service; gives all that it said, and how it ended. */
async function suite(tool: string, args: readonly string[], hookproof = COMMAND): Promise<[string, number]> {
  // Neither leaves what it has compiled beside the examples.
  const env = { ...process.env, HOOKPROOF: hookproof, PYTHONDONTWRITEBYTECODE: "1", TMPDIR: tmpdir() };
  try {
    const { stdout, stderr } = await promisify(execFile)(tool, args, { env });
    return [stdout + stderr, 0];
  } catch (error) {
    const { stdout, stderr, code } = error as { stdout: string; stderr: string; code: number };
    return [stdout + stderr, code];
  }
}

const PYTEST = ["-m", "pytest", "-p", "no:cacheprovider", "--color=no"];
const SUITE = join(EXAMPLES, "test_staff_directory.py");
const hasPytest = hasTool("python3", "-m", "pytest", "--version");

describeWith("pytest", hasPytest)("pytest_local_service.py", () => {
  it("is a fixture for a suite in any order of its tests", async () => {
    const [said, code] = await suite("python3", [...PYTEST, "-q", SUITE]);
    expect([said, code]).toEqual([expect.stringMatching(/^4 passed in /m), 0]);
    const names = ["begins_as_the_others_did", "removes_one_and_nothing_else", "survives_an_outage"];
    const [again] = await suite("python3", [
      ...PYTEST,
      "-q",
      ...names.map((name) => `${SUITE}::test_${name}`).reverse(),
    ]);
    expect(again).toMatch(/^3 passed in /m);
  });

  it("says why the service has not started, and leaves nothing", async () => {
    const before = new Set(readdirSync(tmpdir()));
    const [said, code] = await suite("python3", [...PYTEST, SUITE], `${COMMAND} --no-such-flag`);
    expect(code).toBe(1);
    expect(said).toContain("the service has not started: error[USAGE]");
    expect(readdirSync(tmpdir()).filter((name) => !before.has(name) && name.startsWith("tmp"))).toEqual([]);
  });
});

/** Where Debian has the parts of JUnit 5. */
const JARS = "/usr/share/java";
const JUNIT = ["junit-jupiter-*", "junit-platform-*", "apiguardian-api", "opentest4j*", "picocli"];
const jars = existsSync(JARS)
  ? readdirSync(JARS)
      .filter((name) => JUNIT.some((one) => new RegExp(`^${one.replace("*", "[a-z-]*")}\\.jar$`).test(name)))
      .filter((name) => !name.includes("standalone"))
      .map((name) => join(JARS, name))
  : [];
const hasJUnit =
  jars.some((jar) => jar.endsWith("junit-platform-console.jar")) && hasTool("javac", "--version");

describeWith("javac and JUnit 5", hasJUnit)("LocalServiceExtension.java", () => {
  async function tests(hookproof?: string): Promise<[string, number]> {
    const folder = temporaryFolder("junit");
    const sources = ["LocalServiceExtension.java", "StaffDirectoryTest.java"].map((name) =>
      join(EXAMPLES, name),
    );
    const compiled = await suite("javac", [
      "-Xlint:all,-path",
      "-Werror",
      "-d",
      folder,
      "-cp",
      jars.join(":"),
      ...sources,
    ]);
    expect(compiled).toEqual(["", 0]);
    return suite(
      "java",
      [
        `-Djava.io.tmpdir=${tmpdir()}`,
        ...["-cp", [folder, ...jars].join(":"), "org.junit.platform.console.ConsoleLauncher"],
        ...["--select-class", "StaffDirectoryTest", "--disable-banner", "--disable-ansi-colors"],
      ],
      hookproof,
    );
  }

  it("is an extension for a suite", async () => {
    const [said, code] = await tests();
    expect([said, code]).toEqual([expect.stringMatching(/^\[ +5 tests successful +\]$/m), 0]);
    expect(said).toMatch(/^\[ +0 tests failed +\]$/m);
  });

  it("says why the service has not started, and leaves nothing", async () => {
    const [said, code] = await tests(`${COMMAND} --no-such-flag`);
    expect(code).not.toBe(0);
    expect(said).toContain("the service has not started: error[USAGE]");
    expect(readdirSync(tmpdir()).filter((name) => name.startsWith("local-service-"))).toEqual([]);
  });
});

it.each([
  ["python", ["local-service.py", "test_staff_directory.py"]],
  ["java", ["LocalService.java", "StaffDirectoryTest.java"]],
])("what the guide shows in %s stands in its examples", (language, names) => {
  const unindented = (text: string) => text.replace(/^ +/gm, "");
  const example = names.map((name) => unindented(readFileSync(join(EXAMPLES, name), "utf8"))).join("\n");
  const shown = fencedBlocks(join(root, "docs/guides/service-in-tests.md"))
    .filter((block) => block.language === language)
    .flatMap(({ text }) => unindented(text).trim().split("\n\n"));
  expect(shown).not.toEqual([]);
  for (const part of shown) expect(example).toContain(part);
});
