import { cpSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig, type Plugin } from "rolldown";
import { BILL, billOf, licencesOf, packagesIn } from "../bill-of-materials.mjs";

const MAIN = "src/main.ts";
const SERVICE = dirname(fileURLToPath(import.meta.resolve("hookproof-service/package.json")));
const PAGES = ["inspector-page", "outbox-page"];
/** What so many commands share is read as one file. Fewer, and each reads what it does not need; more, and it finds files. */
const COMMON_FROM = 11;
/** What loads Node's HTTP and TLS, what leads to it, and jose: a command that only signs or prints does without. */
const NETWORK = /\/node_modules\/jose\/|\/src\/(?:http|jwks|key-store|node|observe|receiver|sqlite)\//;
/** What finds a mistake, which every scheme's own diagnosis loads when there is one. */
const DIAGNOSIS = /\/src\/doctor\/(?:diagnose|texts)\//;
// Loaded when they are called for: the service with its API, and a driver that the user installs.
const NOT_BUNDLED = ["hookproof-service", "pg"];

/** Of yargs only its parser: its door for helpers brings tables of widths, translations and a process of their own. */
const yargsParser: Plugin = {
  name: "yargs-parser",
  resolveId(id) {
    return id === "yargs/helpers" ? `\0${id}` : null;
  },
  async load(id) {
    if (id !== "\0yargs/helpers") return null;
    const parser = await this.resolve("yargs-parser", fileURLToPath(import.meta.resolve("yargs")));
    return `export { default as Parser } from ${JSON.stringify(parser?.id)};`;
  },
};

/** A way for proxies of Kerberos to ask who calls, which the command does not offer; it would want a compiled package. */
const noKerberos: Plugin = {
  name: "no-kerberos",
  resolveId(id) {
    return id === "proxy-agent-negotiate" ? `\0${id}` : null;
  },
  load(id) {
    return id === "\0proxy-agent-negotiate" ? "export const createNegotiateAuth = undefined;" : null;
  },
};

/** From this size on a table is a file of its own. */
const TABLE_FROM = 10_000;

/** Tables of types and of character sets stay text until they are asked for; the large ones stay files. */
const tables: Plugin = {
  name: "tables",
  load(id) {
    if (!/node_modules.*\.json$/.test(id)) return null;
    const text = JSON.stringify(JSON.parse(readFileSync(id, "utf8")));
    if (text.length < TABLE_FROM)
      return { code: `module.exports = JSON.parse(${JSON.stringify(text)});`, moduleType: "js" };
    const fileName = `tables/${basename(dirname(id))}-${basename(id)}`;
    this.emitFile({ type: "asset", fileName, source: text });
    const code = `module.exports = JSON.parse(require("node:fs").readFileSync(new URL("${fileName}", import.meta.url)));`;
    return { code, moduleType: "js" };
  },
};

/** Names the packages that the bundle and its pages have code of, with their licences, beside it. */
const named: Plugin = {
  name: "named",
  generateBundle(_, bundle) {
    const modules = Object.values(bundle).flatMap((part) =>
      part.type === "chunk" ? part.moduleIds.map((module) => ({ file: "dist/*.cjs", module })) : [],
    );
    const packages = packagesIn([...modules, ...modulesOfPages()], import.meta.dirname);
    this.emitFile({ type: "asset", fileName: BILL, source: billOf(import.meta.dirname, packages) });
    this.emitFile({ type: "asset", fileName: "LICENSES.txt", source: licencesOf(packages) });
  },
};

/** What the pages have in them, as the service's build has written it down. */
function modulesOfPages() {
  const { components } = JSON.parse(readFileSync(join(SERVICE, "dist", BILL), "utf8")) as {
    components: { group?: string; name: string; properties: { value: string }[] }[];
  };
  return components.flatMap(({ group, name, properties }) =>
    properties
      .filter(({ value }) => PAGES.some((page) => value.startsWith(`dist/${page}/`)))
      .map(({ value: file }) => {
        const packageName = [group, name].filter(Boolean).join("/");
        return { file, module: join(import.meta.dirname, "../node_modules", packageName, "package.json") };
      }),
  );
}

/**
 * What a file gives to others, in a third of the bytes: each name is a getter, as the bundler writes it, and a file that
 * many commands share has some 270 of them.
 */
const shortExports: Plugin = {
  name: "short-exports",
  generateBundle(_, bundle) {
    const one =
      /Object\.defineProperty\(exports,("[^"]+"|`[^`]+`),\{enumerable:!0,get:function\(\)\{return ([\w$.]+)\}\}\)/g;
    const made = "const $give=(n,get)=>Object.defineProperty(exports,n,{enumerable:!0,get});";
    for (const part of Object.values(bundle))
      if (part.type === "chunk" && one.test(part.code))
        part.code = `${made}${part.code.replaceAll(one, "$$give($1,()=>$2)")}`;
  },
};

/** The pages of the inspector and of the outbox, which the servers find beside the bundle. */
const pages: Plugin = {
  name: "pages",
  writeBundle({ dir = "dist" }) {
    for (const page of PAGES) cpSync(join(SERVICE, "dist", page), join(dir, page), { recursive: true });
  },
};

/**
 * One bundle in few files, without white space: Node spends most of a start on finding files and reading them. What
 * the overview and `--version` need is a file of its own, and so is what one command alone needs. The files are
 * CommonJS, which Node finds and reads in half the time that modules take (docs/decisions.md, C15).
 */
export default defineConfig({
  input: MAIN,
  platform: "node",
  external: NOT_BUNDLED,
  // What `includeDependenciesRecursively` below demands.
  preserveEntrySignatures: "allow-extension",
  resolve: { conditionNames: ["source", "node"] },
  plugins: [yargsParser, noKerberos, tables, named, shortExports, pages],
  // A package is loaded later in one place and at once in another, where a command has loaded it anyway.
  checks: { ineffectiveDynamicImport: false },
  output: {
    dir: "dist",
    cleanDir: true,
    format: "cjs",
    entryFileNames: "[name].cjs",
    chunkFileNames: "[name]-[hash].cjs",
    minify: {
      // Nothing unused is dropped: Express tells handlers of errors by the number of their parameters.
      compress: { target: "node20", unused: false, keepNames: { function: true, class: true } },
      mangle: { toplevel: true, keepNames: true },
      codegen: { removeWhitespace: true },
    },
    codeSplitting: {
      groups: [
        {
          name: "start",
          test: /cli\/src\/(?:command|failure|io|main|output|command-line\/(?:find-command|registry))\.ts$/,
          priority: 1,
        },
        // Else the small ones would be files of their own, as other commands read them too.
        {
          name: "typed",
          test: /cli\/src\/(?:send\/(?:exact-json|payload)|credentials\/typed-target)\.ts$/,
          priority: 1,
          includeDependenciesRecursively: false,
        },
        // Else it would be read by the commands that sign nothing, as one that shows a profile reads it too.
        {
          name: "secrets",
          test: /cli\/src\/credentials\/secrets\.ts$/,
          priority: 1,
          includeDependenciesRecursively: false,
        },
        // Else these would stand beside the connections of their door, `hookproof/node`.
        {
          name: "serve",
          test: /\/src\/(?:receiver\/node|http\/node\/incoming|jwks\/(?:host|life-cycle|node\/))/,
          priority: 1,
          includeDependenciesRecursively: false,
        },
        {
          name: "key-store",
          test: /\/node_modules\/jose\/|\/src\/(?:key-store\/(?!publish|uploads)|jwks\/(?:key-set\.|rotation))/,
          priority: 1,
          includeDependenciesRecursively: false,
        },
        {
          name: "mistakes",
          test: DIAGNOSIS,
          minShareCount: 2,
          includeDependenciesRecursively: false,
        },
        // What a shared file imports is shared as often, or left to its users; its dependencies need no naming.
        {
          name: "common",
          test: (id) => !NETWORK.test(id) && !DIAGNOSIS.test(id),
          minShareCount: COMMON_FROM,
          includeDependenciesRecursively: false,
        },
      ],
    },
  },
});
