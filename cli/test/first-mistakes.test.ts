import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openStage, requireBuild, type Stage } from "../../test/kit/transcript.js";

/** What somebody is told who meets the command for the first time, and types what is nearly right. */

let stage: Stage;
beforeAll(async () => {
  requireBuild();
  stage = await openStage();
});
afterAll(() => stage.close());

const run = async (line: string) => (await stage.run(`${line}; echo $?`)).join("\n");

it.each(["wrong", "api/v1/webhooks", "API/v1/webhooks/incoming/lst_1", ""])(
  "a URL with the path /%s is told to be no listener's before a secret is asked for",
  async (path) => {
    for (const command of ["send --data '{}'", "test", "sign --data '{}'"]) {
      const [name, ...words] = command.split(" ");
      const said = await run(`hookproof ${name} http://127.0.0.1:44150/${path} ${words.join(" ")}`);
      expect(said).toContain("error[LISTENER_URL_INVALID]");
      expect(said).toContain("Use :44150 for a listener that runs there");
      expect(said).not.toContain("SECRET_MISSING");
    }
  },
);

it("a command that ends the service is not taken for the one that starts it", async () => {
  for (const word of ["stop", "restart"]) {
    const said = await run(`hookproof service ${word}`);
    expect(said).toContain("Ctrl-C ends hookproof service start");
    expect(said).not.toContain("Did you mean");
  }
  expect(await run("hookproof service strat")).toContain("Did you mean service start?");
});

it("a service that does not answer may run on another port", async () => {
  writeFileSync(join(stage.folder, "work/client-secret"), "x\n", { mode: 0o600 });
  const said = await run(
    "hookproof service token --base-url http://127.0.0.1:9 --client-secret-file client-secret",
  );
  expect(said).toContain("--base-url names one that runs on another port");
});

it("init names the schema for editors where it is, and none that is not there", async () => {
  const made = async (folder: string) => {
    await run(`cd ${folder} && hookproof init --yes --target :4400 --method hmac`);
    return JSON.parse(readFileSync(join(stage.folder, "work", folder, "hookproof.config.json"), "utf8"));
  };
  for (const folder of ["bare", "installed"]) mkdirSync(join(stage.folder, "work", folder));
  const schema = join(stage.folder, "work/installed/node_modules/hookproof-cli/hookproof.schema.json");
  mkdirSync(dirname(schema), { recursive: true });
  writeFileSync(schema, "{}");
  expect(await made("bare")).not.toHaveProperty("$schema");
  const { $schema } = await made("installed");
  expect(existsSync(join(stage.folder, "work/installed", $schema))).toBe(true);
});
