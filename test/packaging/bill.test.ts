import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Ajv } from "ajv";
import formats from "ajv-formats";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { requirePackage, root } from "../kit/built-package.js";
import { OURS, packPackages } from "./packed-packages.js";

interface Component {
  readonly "bom-ref": string;
  readonly group?: string;
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly licenses: readonly object[];
  readonly hashes?: readonly { content: string }[];
}

interface Bill {
  readonly metadata: { readonly component: Component };
  readonly components: readonly Component[];
}

let folder: string;
let bills: Record<string, Bill>;
let licences: Record<string, string>;

beforeAll(() => {
  requirePackage();
  folder = mkdtempSync(join(tmpdir(), "hookproof-bill-"));
  const tarballs = packPackages(folder);
  const textOf = (name: (typeof OURS)[number], path: string) =>
    execFileSync("tar", ["-xzOf", tarballs[name], `package/dist/${path}`], {
      encoding: "utf8",
      maxBuffer: 2 ** 26,
    });
  bills = Object.fromEntries(OURS.map((name) => [name, JSON.parse(textOf(name, "sbom.cdx.json")) as Bill]));
  licences = Object.fromEntries(OURS.slice(1).map((name) => [name, textOf(name, "LICENSES.txt")]));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const named = ({ components }: Bill) =>
  components
    .map(({ group, name, version }) => `${[group, name].filter(Boolean).join("/")}@${version}`)
    .sort();

/** The packages of others whose sources are named by the source maps of a folder. */
function packagesOfMaps(maps: readonly string[]): string[] {
  const sources = maps.flatMap((map) => (JSON.parse(map) as { sources: string[] }).sources);
  // A package may be there twice, in another version beneath the one that wants it.
  const folders = sources.flatMap((path) => {
    const installed = path.slice(Math.max(0, path.search(/(?:cli\/|service\/)?node_modules\//)));
    return /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(installed)?.[0] ?? [];
  });
  return [...new Set(folders)]
    .map((folder) => JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8")) as Component)
    .map(({ name, version }) => `${name}@${version}`)
    .sort();
}

function mapsIn(where: string): string[] {
  const files = readdirSync(where, { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(".map"),
  );
  return files.map((name) => readFileSync(join(where, name), "utf8"));
}

const run = (cwd: string, ...args: string[]) => execFileSync(process.execPath, args, { cwd, stdio: "pipe" });
const bin = (name: string) => join(root, "node_modules", name);

describe("each tarball names what it has in it", () => {
  it.each(OURS)("%s: by the rules of CycloneDX 1.6", (name) => {
    const schemas = join(
      dirname(createRequire(import.meta.url).resolve("@cyclonedx/cyclonedx-library/package.json")),
      "res/schema",
    );
    const schema = (file: string) =>
      JSON.parse(readFileSync(join(schemas, `${file}.SNAPSHOT.schema.json`), "utf8"));
    const ajv = new Ajv({ strict: false, allErrors: true });
    formats.default(ajv);
    for (const format of ["idn-email", "iri-reference"]) ajv.addFormat(format, true);
    for (const file of ["spdx", "jsf-0.82"])
      ajv.addSchema(schema(file), `http://cyclonedx.org/schema/${file}.SNAPSHOT.schema.json`);
    const validate = ajv.compile(schema("bom-1.6"));
    expect(validate(bills[name]), JSON.stringify(validate.errors?.slice(0, 5))).toBe(true);
    // The schema is one that refuses.
    expect(validate({ ...bills[name], specVersion: 7 })).toBe(false);
  });

  it("with a reference, a licence and the hash of the lock file for each", () => {
    for (const { components, metadata } of Object.values(bills)) {
      expect(metadata.component.purl).toMatch(/^pkg:npm\/hookproof/);
      for (const one of components) {
        expect(one.purl).toBe(one["bom-ref"]);
        expect(one.licenses).toHaveLength(1);
        if (!one.name.startsWith("hookproof")) expect(one.hashes?.[0]?.content).toMatch(/^[0-9a-f]{128}$/);
      }
    }
  });

  it("the library has nothing of others", () => {
    expect(named(bills.hookproof as Bill)).toEqual([]);
  });

  it("the command names all that the maps of its sources do, and no more", async () => {
    const where = join(folder, "cli");
    run(join(root, "cli"), bin("rolldown/bin/cli.mjs"), "-c", "rolldown.config.ts", "-s", "-d", where);
    const [preact = ""] = await packagesOfPages();
    const ours = ["hookproof", "hookproof-service"].map(
      (name) => `${name}@${bills[name]?.metadata.component.version}`,
    );
    const expected = [...packagesOfMaps(mapsIn(where)), preact, ...ours].sort();
    expect(expected).toEqual(expect.arrayContaining([expect.stringMatching(/^express@/)]));
    expect(named(bills["hookproof-cli"] as Bill)).toEqual([...new Set(expected)]);
  });

  it("the service names what the maps of its sources do, what its pages have, and the viewer of its reference", async () => {
    const where = join(folder, "service");
    run(
      join(root, "service"),
      bin("tsup/dist/cli-default.js"),
      "--sourcemap",
      "--no-clean",
      "--out-dir",
      where,
    );
    const viewer = JSON.parse(
      readFileSync(join(root, "node_modules/openapi-explorer/package.json"), "utf8"),
    ) as Component;
    const others = [...(await packagesOfPages()), `${viewer.name}@${viewer.version}`];
    const expected = [...packagesOfMaps(mapsIn(where)), ...others].sort();
    expect(expected).toEqual(expect.arrayContaining([expect.stringMatching(/^express@/)]));
    expect(named(bills["hookproof-service"] as Bill)).toEqual([...new Set(expected)]);
  });

  it("and brings their licences", () => {
    for (const name of OURS.slice(1))
      for (const component of named(bills[name] as Bill).filter((one) => !one.startsWith("hookproof")))
        expect(licences[name]).toContain(`${component.replace(/@(?=[^@]+$)/, " ")}\n`);
  });
});

/** The packages that the pages of inspector and outbox have in them, by esbuild's own source maps. */
async function packagesOfPages(): Promise<string[]> {
  const pages = join(root, "service/inspector");
  const { outputFiles } = await build({
    entryPoints: [join(pages, "main.tsx"), join(pages, "outbox/main.tsx")],
    ...{ bundle: true, write: false, sourcemap: "external", outdir: folder, format: "esm" },
    ...{ jsx: "automatic", jsxImportSource: "preact", logLevel: "silent" },
  });
  const maps = outputFiles.filter(({ path }) => path.endsWith(".map")).map(({ text }) => text);
  return packagesOfMaps(maps);
}
