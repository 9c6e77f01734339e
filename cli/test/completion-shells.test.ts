import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { describeWith } from "../../test/kit/needs.js";
import { hasTool } from "../../test/kit/outside-tool.js";
import { openStage, requireBuild, type Stage } from "../../test/kit/transcript.js";

const hasFish = hasTool("fish", "--version");
const hasZsh = hasTool("zsh", "--version");

const SERVICE = "http://127.0.0.1:4431";

let stage: Stage;
beforeAll(async () => {
  requireBuild();
  stage = await openStage();
  await stage.run("hookproof completion fish > hookproof.fish; hookproof completion zsh > _hookproof");
  // Next to the folder, so that its files are no candidates.
  const automation = (id: string, name: string) =>
    `{ id: ${id}, displayName: ${name}, trigger: { hmac: {} } }`;
  const both = [automation("leaver", "Leaves"), automation("joiner", "Joins")];
  await stage.run(`echo 'automations: [${both.join(", ")}]' > ../team.yaml`);
  await stage.run("hookproof service start --db ../team.db --fixture ../team.yaml --port 4431 --no-ui &");
});
afterAll(() => stage?.close());

describeWith("fish", hasFish)("in fish", () => {
  it.each([
    ["hookproof ke", ["keys"]],
    ["hookproof jwks ", ["check", "export", "publish", "serve"]],
    ["hookproof send --method ", ["hmac", "jwt"]],
    ["hookproof send --re", ["--retries"]],
    ["hookproof verify hook", ["hookproof.fish"]],
    ["hookproof service start --wire-name svc", ["svcLocal="]],
    ["hookproof service journal --method ", ["DELETE", "GET", "HEAD", "PATCH", "POST", "PUT"]],
    [`hookproof service automation run --db ../team.db --base-url ${SERVICE} `, ["joiner", "leaver"]],
  ])("%s and a tab", async (line, candidates) => {
    const seen = await stage.run(`fish -c 'source hookproof.fish; complete -C ${JSON.stringify(line)}'`);
    expect(seen.map((text) => text.split("\t")[0])).toEqual(candidates);
  });

  it("says what a candidate does", async () => {
    expect(await stage.run("fish -c 'source hookproof.fish; complete -C \"hookproof ke\"'")).toEqual([
      "keys\tmake, rotate and export the keys that sign tokens",
    ]);
  });
});

describeWith("zsh", hasZsh)("in zsh", () => {
  const script = join(import.meta.dirname, "kit/complete-in-zsh.zsh");

  // The text is on the screen only if zsh was given it; without it the shell is killed and the test fails.
  it.each([
    ["source", "hookproof ke", "hookproof keys "],
    ["fpath", "hookproof ke", "hookproof keys "],
    ["source", "hookproof jwks ", "check*rule by rule*export*serve"],
    ["source", "hookproof send --method ", "hmac*jwt"],
    ["source", "hookproof verify _h", "hookproof verify _hookproof "],
    // What goes on after = has no space before it.
    ["source", "hookproof service start --wire-name svc\tacme", "svcLocal=acme"],
    ["source", "hookproof service journal --method ", "DELETE*GET*POST"],
    [
      "source",
      `hookproof service automation run --db ../team.db --base-url ${SERVICE} `,
      "joiner*Joins*leaver*Leaves",
    ],
  ])("loaded by %s: %s and a tab", async (how, line, text) => {
    const seen = await stage.run(`timeout 25 zsh -f '${script}' "$PWD" ${how} '${line}' '${text}'`);
    expect(seen).toEqual([]);
  });
});
