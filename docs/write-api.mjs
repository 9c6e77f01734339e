// Writes docs/api from the doc comments: node docs/write-api.mjs [--check]. With --check it changes nothing and
// fails when a page is stale.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Application, ReflectionKind } from "typedoc";
import manifest from "../package.json" with { type: "json" };

const pages = join(import.meta.dirname, "api");
const made = mkdtempSync(join(tmpdir(), "hookproof-api-"));
const app = await Application.bootstrapWithPlugins({ options: join(import.meta.dirname, "typedoc.json") });
app.options.setValue("out", made);
const project = await app.convert();
if (!project) process.exit(1);
byUse(project);
await app.generateOutputs(project);
writeFileSync(join(made, "README.md"), firstPage(project));

const stale = new Set([...readdirSync(made), ...readdirSync(pages)].filter(isStale));
if (!process.argv.includes("--check")) {
  for (const name of readdirSync(pages)) rmSync(join(pages, name));
  for (const name of readdirSync(made)) writeFileSync(join(pages, name), read(made, name));
} else if (stale.size > 0) {
  console.error(`docs/api is stale: ${[...stale].join(", ")}. Run npm run generate.`);
  process.exitCode = 1;
}
rmSync(made, { recursive: true });

/** The public name of an entry, such as `hookproof/outbox/store`. */
function entryOf(module) {
  const { fileName } = project.getSymbolIdFromReflection(module);
  const found = Object.entries(manifest.exports).find(
    ([, { source }]) => source && join(import.meta.dirname, "..", source) === fileName,
  );
  return found[0].replace(/^\./, "hookproof");
}

function pageOf(entry) {
  return entry.replace(/^hookproof\//, "").replace("/", "-");
}

/** Entries by their public names, in the order of package.json; what an entry holds in the order of its index.ts. */
function byUse(project) {
  const entries = Object.entries(manifest.exports).filter(([, { source }]) => source);
  const places = entries.map(([, { source }]) => join(import.meta.dirname, "..", source));
  for (const module of project.children) {
    const file = project.getSymbolIdFromReflection(module).fileName;
    module.name = pageOf(entryOf(module));
    const text = readFileSync(file, "utf8");
    const place = ({ name }) =>
      new RegExp(`\\b${name}\\b`).exec(text.replace(/\/\*[\s\S]*?\*\//g, ""))?.index ?? Infinity;
    for (const { children } of [module, ...(module.groups ?? [])])
      children.sort((a, b) => place(a) - place(b));
  }
  project.children.sort((a, b) => order(a) - order(b));
  for (const { children } of project.groups ?? []) children.sort((a, b) => order(a) - order(b));
  function order(module) {
    return places.indexOf(project.getSymbolIdFromReflection(module).fileName);
  }
}

/** The first page: what each entry is for, by the comment at the top of its index.ts, and the names to begin with. */
function firstPage(project) {
  const rows = project.children.map((module) => {
    const entry = entryOf(module);
    const words = (module.comment?.summary ?? []).map(({ text }) => text).join("");
    const first = words.split("\n\n")[0].replaceAll("\n", " ");
    const names = module.children
      .filter((one) => one.kindOf([ReflectionKind.Function, ReflectionKind.Class, ReflectionKind.Variable]))
      .slice(0, 4)
      .map(({ name }) => `\`${name}\``);
    return `| [\`${entry}\`](${module.name}.md) | ${first} | ${names.join(", ")} |`;
  });
  const head = "| import from | what it is for | begin with |\n| --- | --- | --- |";
  return `# API reference\n\nOne page for each entry of the package \`hookproof\`. Each page begins with what is used most.\n\n${head}\n${rows.join("\n")}\n`;
}

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
