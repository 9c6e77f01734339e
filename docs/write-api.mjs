// Writes docs/api from the doc comments: node docs/write-api.mjs [--check]. With --check it changes nothing and
// fails when a page is stale.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Application } from "typedoc";

const pages = join(import.meta.dirname, "api");
const made = mkdtempSync(join(tmpdir(), "hookproof-api-"));
const app = await Application.bootstrapWithPlugins({ options: join(import.meta.dirname, "typedoc.json") });
app.options.setValue("out", made);
const project = await app.convert();
if (!project) process.exit(1);
await app.generateOutputs(project);

const stale = new Set([...readdirSync(made), ...readdirSync(pages)].filter(isStale));
if (!process.argv.includes("--check")) {
  for (const name of readdirSync(pages)) rmSync(join(pages, name));
  for (const name of readdirSync(made)) writeFileSync(join(pages, name), read(made, name));
} else if (stale.size > 0) {
  console.error(`docs/api is stale: ${[...stale].join(", ")}. Run npm run generate.`);
  process.exitCode = 1;
}
rmSync(made, { recursive: true });

function isStale(name) {
  return read(made, name) !== read(pages, name);
}

/** A page; where the compiler spells out every error code, its name says more. */
function read(folder, name) {
  let text;
  try {
    text = readFileSync(join(folder, name), "utf8");
  } catch {
    return undefined;
  }
  const union =
    /(?<!type ErrorCode =\s*)\s*\(?\s*(?:\\?\|\s*)?`?"LISTENER_UNKNOWN"`?(?:\s*\\?\|\s*`?"\w+"`?)+\)?/g;
  return text.replace(union, (codes) => {
    if (!codes.includes("WINDOW_CLOSED")) return codes;
    const [space] = /^\s*/.exec(codes);
    return codes.includes("`") ? `${space}\`ErrorCode\`` : `${space && " "}ErrorCode`;
  });
}
