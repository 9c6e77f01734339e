import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { EXAMPLES } from "../kit/example-process.js";

const examples = readdirSync(EXAMPLES).filter((name) => name.endsWith(".mjs") && !name.includes(".test."));
const textOf = (name: string) => readFileSync(join(EXAMPLES, name), "utf8");
const withSecret = examples.filter((name) => /^const secret = /m.test(textOf(name)));

it("no example has a secret in it, not even for want of another", () => {
  expect(examples.filter((name) => /SECRET"?\)?\s*(?:\?\?|\|\|)|secret: ["'`]/.test(textOf(name)))).toEqual(
    [],
  );
});

it("an example without its secret says so and does nothing", () => {
  expect(withSecret.length).toBeGreaterThan(15);
  // These begin with what only their own place has: Deno, and next/server.
  const here = withSecret.filter((name) => !/deno|emit-next/.test(name));
  const script = `for (const name of ${JSON.stringify(here)})
    await import(${JSON.stringify(EXAMPLES)} + "/" + name).then(
      () => console.log(name, "runs"),
      (error) => console.log(error.message),
    );
    process.exit();`;
  const { LISTENER_SECRET: _, ...env } = process.env;
  const args = ["--input-type=module", "-e", script];
  const said = execFileSync(process.execPath, args, { cwd: EXAMPLES, env, encoding: "utf8" });
  expect(said.trim().split("\n")).toEqual(
    here.map(() => "LISTENER_SECRET is missing: the secret of the listener."),
  );
});
