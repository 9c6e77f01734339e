import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect, it, onTestFinished } from "vitest";

const ROOT = resolve(import.meta.dirname, "../..");

it("the image can be built of what .dockerignore leaves, and each file that it copies is there", () => {
  const [first, ...kept] = readFileSync(join(ROOT, ".dockerignore"), "utf8")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"));
  expect(first).toBe("*");
  const context = mkdtempSync(join(tmpdir(), "hookproof-image-"));
  onTestFinished(() => rmSync(context, { recursive: true, force: true }));
  for (const line of kept) {
    expect(line).toMatch(/^![A-Za-z]/);
    cpSync(join(ROOT, line.slice(1)), join(context, line.slice(1)), { recursive: true });
  }
  // Its own packages are links to the workspaces, and must not lead back here.
  const modules = join(ROOT, "node_modules");
  cpSync(join(modules, ".bin"), join(context, "node_modules/.bin"), {
    recursive: true,
    verbatimSymlinks: true,
  });
  for (const name of readdirSync(modules))
    if (!name.startsWith(".") && !name.startsWith("hookproof"))
      symlinkSync(join(modules, name), join(context, "node_modules", name));
  symlinkSync("..", join(context, "node_modules/hookproof"));
  symlinkSync("../service", join(context, "node_modules/hookproof-service"));
  symlinkSync("../cli", join(context, "node_modules/hookproof-cli"));

  const { status, stdout, stderr } = spawnSync("npm", ["run", "bundle"], { cwd: context, encoding: "utf8" });
  expect(status, stdout + stderr).toBe(0);
  const copied = readFileSync(join(ROOT, "Dockerfile"), "utf8").matchAll(
    /^COPY --from=build (.+) \/app\S*$/gm,
  );
  const paths = [...copied].flatMap(([, list = ""]) => list.split(" "));
  expect(paths).toContain("/app/cli/dist");
  expect(paths.filter((path) => !existsSync(path.replace("/app", context)))).toEqual([]);
});
