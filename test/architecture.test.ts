import { existsSync, readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import {
  DOCTOR_TAKES,
  filesImportedBy,
  type PackageRights,
  ROOMS,
  roomOf,
  roomsImportedBy,
  type SourceFile,
  violationsOf,
} from "./kit/architecture-rules.js";
import { longFunctionsIn } from "./kit/function-length.js";
import { cyclesAmong, knotsAmong } from "./kit/import-cycles.js";
import { testViolationsOf } from "./kit/test-rules.js";

const root = new URL("../", import.meta.url);

interface Manifest {
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
  exports?: Record<string, unknown>;
}

function manifest(folder: string): Manifest {
  return JSON.parse(readFileSync(new URL(`${folder}package.json`, root), "utf8")) as Manifest;
}

const publicEntries = Object.keys(manifest("").exports ?? {})
  .filter((entry) => entry !== "./package.json")
  .map((entry) => entry.replace(/^\./, "hookproof"));

/** What a workspace names for its development and does not import: programs, types, and what its pages are made of. */
const TOOLS = /^(?:@types\/.*|esbuild|openapi-explorer|openapi-typescript|preact|hookproof)$/;

/** A workspace imports what it names, as a dependency or as part of its bundle, and of the library only its public entries. */
function rightsOf(folder: string): string[] {
  const { dependencies = {}, devDependencies = {}, peerDependencies = {} } = manifest(folder);
  const named = Object.keys({ ...dependencies, ...devDependencies, ...peerDependencies });
  return [...named.filter((name) => !TOOLS.test(name)), ...publicEntries];
}

const rights: PackageRights = { service: rightsOf("service/"), cli: rightsOf("cli/") };

function filesIn(folder: string, ending = /\.tsx?$/): SourceFile[] {
  const url = new URL(`${folder}/`, root);
  if (!existsSync(url)) return [];
  return readdirSync(url, { recursive: true, encoding: "utf8" })
    .filter((name) => ending.test(name) && !name.includes("node_modules"))
    .map((name) => ({ path: `${folder}/${name}`, text: readFileSync(new URL(name, url), "utf8") }));
}

/** Every source, also the plain JavaScript of the processes that evaluate expressions. */
const files = ["src", "service/src", "service/inspector", "cli/src"].flatMap((folder) =>
  filesIn(folder, /\.(?:tsx?|js)$/),
);

const isHelper = ({ path }: SourceFile) => !path.endsWith(".test.ts");

describe("the house as it stands", () => {
  it("is read: every room of the rules has files, and every room is in the rules", () => {
    const library = files.filter(({ path }) => path.startsWith("src/"));
    expect(files.filter(({ path }) => path.endsWith(".js")).length).toBeGreaterThan(10);
    expect([...new Set(library.map(({ path }) => roomOf(path)))].sort()).toEqual(Object.keys(ROOMS).sort());
  });

  it("documents no import that no file has", () => {
    const made = new Set(
      files
        .filter(({ path }) => path.startsWith("src/"))
        .flatMap((file) => roomsImportedBy(file).map((other) => `${roomOf(file.path)} -> ${other}`)),
    );
    const allowed = Object.entries(ROOMS).flatMap(([room, others]) =>
      others.map((other) => `${room} -> ${other}`),
    );
    expect(allowed.filter((arrow) => !made.has(arrow))).toEqual([]);
  });

  it("names nothing among what the doctor takes that it does not take", () => {
    const taken = new Set(
      files.filter(({ path }) => path.startsWith("src/doctor/")).flatMap((file) => filesImportedBy(file)),
    );
    const listed = Object.entries(DOCTOR_TAKES).flatMap(([room, names]) =>
      names.map((name) => `src/${room}/${name}.ts`),
    );
    expect(listed.filter((file) => !taken.has(file))).toEqual([]);
  });

  it("has one owner in each package for the path at which events are taken", () => {
    const owners = files
      .filter(({ path }) => path !== "service/src/api/openapi.ts")
      .filter(({ text }) =>
        /\/webhooks\/incoming\/?(?:["`]|\$\{)/.test(text.replace(/^ *(?:\/\*)?\*.*$/gm, "")),
      )
      .map(({ path }) => path);
    expect(owners.sort()).toEqual([
      "cli/src/config/settings.ts",
      "service/inspector/copy/as-test.ts", // a page that imports nothing of the server
      "service/src/server/listener-path.ts",
      "src/schemes/access-governance/listener-url.ts",
    ]);
  });

  it("keeps every rule", () => {
    expect(files.flatMap((file) => violationsOf(file, rights))).toEqual([]);
  });

  it("cleans up after each test that asks, not only in the first file that imports the helper", () => {
    // Files of the main project share what they import, so a hook at the top of a helper is registered once; vitest itself
    // reads worker.ts for each.
    const helpers = ["test", "service/test", "cli/test"]
      .flatMap((folder) => filesIn(folder))
      .filter((file) => isHelper(file) && file.path !== "test/kit/worker.ts");
    expect(helpers.length).toBeGreaterThan(50);
    const hooked = /^(?:before|after)(?:Each|All)\(/m;
    expect(helpers.filter(({ text }) => hooked.test(text)).map(({ path }) => path)).toEqual([]);
  });

  it("has tests that wait for no real time, choose by no word of their own and are tried once", () => {
    const tests = ["test", "service/test", "cli/test"]
      .flatMap((folder) => filesIn(folder))
      .filter((file) => !isHelper(file));
    expect(tests.length).toBeGreaterThan(300);
    expect(tests.flatMap(testViolationsOf)).toEqual([]);
  });

  it("has no import cycle, except of types", () => {
    expect(cyclesAmong(files)).toEqual([]);
  });

  it("has no cycle of types in the library, the doctor and the command line, and none above 3 files in the service", () => {
    const knots = knotsAmong(files);
    expect(knots.filter(([first = ""]) => !first.startsWith("service/"))).toEqual([]);
    expect(knots.filter(({ length }) => length > 3)).toEqual([]);
  });

  it("has short files: the median is at most 120 lines", () => {
    const lengths = files.map(({ text }) => text.split("\n").length - 1).sort((a, b) => a - b);
    expect(lengths[Math.floor(lengths.length / 2)]).toBeLessThanOrEqual(120);
  });

  it("has functions of at most 80 lines: what is longer is a class, or functions that an outline shows", () => {
    expect(files.flatMap((file) => longFunctionsIn(file, 80))).toEqual([]);
  });

  it("has at most a dozen files of the command line next to its rooms", () => {
    const loose = files.map(({ path }) => path).filter((path) => /^cli\/src\/[^/]+$/.test(path));
    expect(loose).toContain("cli/src/main.ts");
    expect(loose.length, loose.join(", ")).toBeLessThanOrEqual(12);
  });

  it("has at its top the folders that it is made of, and none that a command has left there", () => {
    const made = ["bench", "cli", "docs", "examples", "service", "site", "src", "test", "vectors"];
    const ignored = readFileSync(new URL(".gitignore", root), "utf8").split("\n");
    const folders = readdirSync(root, { withFileTypes: true })
      .filter((one) => one.isDirectory() && !one.name.startsWith("."))
      .map(({ name }) => name);
    expect(folders.filter((name) => !ignored.includes(name)).sort()).toEqual(made);
  });

  it("gives the library three runtime dependencies, and express and yargs to the bundles they belong to", () => {
    expect(Object.keys(manifest("").dependencies ?? {}).sort()).toEqual(["@noble/hashes", "jose", "uuid"]);
    expect(rights.service).toContain("express");
    expect(rights.cli).toContain("yargs");
    expect(rights.cli).not.toContain("express");
    expect(rights.service).not.toContain("yargs");
  });
});

describe("the rules can be broken", () => {
  it("a cycle is named by its files", () => {
    const module = (path: string, from: string) => ({ path, text: `import { x } from "${from}";` });
    expect(
      cyclesAmong([module("a.ts", "./b/c.js"), module("b/c.ts", "../a.js"), module("d.ts", "./a.js")]),
    ).toEqual(["a.ts > b/c.ts > a.ts"]);
    const typed = { path: "b/c.ts", text: 'import type { X } from "../a.js";' };
    expect(cyclesAmong([module("a.ts", "./b/c.js"), typed])).toEqual([]);
    expect(knotsAmong([module("a.ts", "./b/c.js"), typed, module("d.ts", "./a.js")])).toEqual([
      ["a.ts", "b/c.ts"],
    ]);
  });

  it("a function that is too long is named by its first line", () => {
    const text = `const a = 1;\nconst b = () => {\n${"\n".repeat(79)}};\nclass C {\n${"\n".repeat(90)}}\n`;
    expect(longFunctionsIn({ path: "src/a.ts", text }, 80)).toEqual(["src/a.ts:2 has 81 lines"]);
    expect(longFunctionsIn({ path: "src/a.ts", text }, 81)).toEqual([]);
  });

  it.each<[path: string, line: string, broken: string]>([
    ["src/core/a.ts", 'import { post } from "../http/transport.js";', "imports src/http/transport.ts"],
    ["src/http/a.ts", 'import { deliver } from "../sender/deliver.js";', "imports src/sender/deliver.ts"],
    ["src/jwt/a.ts", 'import { open } from "../sqlite/database.js";', "imports src/sqlite/database.ts"],
    [
      "src/jwt/a.ts",
      'import { localKeys } from "../jwks/verification-keys.js";',
      "imports src/jwks/verification-keys.ts",
    ],
    ["src/sender/a.ts", 'import type { Verdict } from "../receiver/verdict.js";', "src/receiver/verdict.ts"],
    ["src/receiver/a.ts", 'import type { Receipt } from "../sender/sender.js";', "src/sender/sender.ts"],
    [
      "src/receiver/a.ts",
      'import { diagnose } from "../doctor/diagnose/index.js";',
      "src/doctor/diagnose/index.ts, which no file of the library needs",
    ],
    [
      "src/schemes/http-signature/index.ts",
      'export { MISTAKES } from "../../doctor/schemes/http-signature/diagnose.js";',
      "src/doctor/schemes/http-signature/diagnose.ts, which no file of the library needs",
    ],
    [
      "src/doctor/diagnose/a.ts",
      'import { x } from "../../core/check.js";',
      "imports src/core/check.ts, which the doctor has to do without",
    ],
    ["src/receiver/a.ts", 'type K = import("../jwks/key-set.js").KeySet;', "imports src/jwks/key-set.ts"],
    ["src/sender/a.ts", 'export * from "../receiver/index.js";', "imports src/receiver/index.ts"],
    ["src/jwks/a.ts", 'const x = await import("./remote-keys.js");', "imports ./remote-keys.js late"],
    ["src/sender/a.ts", 'const x = () => import("#hash");', "imports #hash late"],
    ["src/outbox/a.ts", 'import { x } from "../receiver/accept.js";', "imports src/receiver/accept.ts"],
    ["src/outbox/a.ts", 'import { x } from "./postgres/store.js";', "imports src/outbox/postgres/store.ts"],
    ["src/outbox/postgres/a.ts", 'import { x } from "../memory/store.js";', "src/outbox/memory/store.ts"],
    ["src/jwt/a.ts", 'import { createEvent } from "../index.js";', "imports src/index.ts"],
    [
      "src/index.ts",
      'export { localKeys } from "./jwks/verification-keys.js";',
      "imports src/jwks/verification-keys.ts",
    ],
    [
      "src/jwt/a.ts",
      'import { hash } from "../core/node/hash.js";',
      "src/core/node/hash.ts, which needs Node",
    ],
    [
      "src/sender/a.ts",
      'import { x } from "../http/node/bytes-ahead.js";',
      "http/node/bytes-ahead.ts, which needs Node",
    ],
    ["src/core/node/hash.ts", 'import { v4 } from "uuid";', "imports the package uuid"],
    [
      "src/jwt/a.ts",
      'import { sha256 } from "@noble/hashes/sha2.js";',
      "imports the package @noble/hashes/sha2.js",
    ],
    ["src/receiver/a.ts", 'import type { JWK } from "jose";', "imports the package jose"],
    ["src/node/a.ts", 'import express from "express";', "imports the package express"],
    ["src/sender/a.ts", 'import { readFile } from "node:fs/promises";', "imports node:fs/promises"],
    ["src/jwt/a.ts", 'import { hash } from "node:crypto";', "imports node:crypto"],
    ["src/node/a.ts", 'import fs from "fs";', "imports the package fs"],
    ["src/node/a.ts", "const home = process.env.HOME;", "reads process.env"],
    ["src/jwt/utils.ts", "", "is not named after its job"],
    ["src/jwt/signHmac.ts", "", "is not named after its job"],
    ["src/jwt/a.ts", "\n".repeat(401), "has more than 400 lines"],
    ["service/src/a.ts", 'import { x } from "../../src/jwt/token.js";', "a file of another package"],
    ["service/src/a.ts", 'import { x } from "hookproof/hmac";', "imports hookproof/hmac"],
    ["service/src/a.ts", 'import yargs from "yargs";', "imports yargs"],
    ["service/src/a.ts", 'import { run } from "hookproof-cli";', "imports hookproof-cli"],
    ["service/inspector/a.tsx", 'import { x } from "../src/index.js";', "imports service/src/index.js"],
    ["service/inspector/a.tsx", 'import { x } from "hookproof";', "imports hookproof"],
    ["service/inspector/a.tsx", "element.innerHTML = body;", "makes elements of text"],
    ["cli/src/a.ts", 'import express from "express";', "imports express"],
    ["cli/src/a.ts", 'import { x } from "../../service/src/index.js";', "a file of another package"],
  ])("%s: %s", (path, text, broken) => {
    const found = violationsOf({ path, text }, rights);
    expect(found).toHaveLength(1);
    expect(found[0]).toContain(broken);
  });

  it.each<[line: string, broken: string]>([
    ['it.skipIf(isBusy)("works", () => {});', "skips or chooses by itself"],
    ['describe.only("room", () => {', "skips or chooses by itself"],
    ['const file = new URL("a.txt", import.meta.url).pathname;', "takes a URL's path for a file's"],
    ['it("works", { retry: 2 }, () => {', "is tried twice"],
    ["const pool = new pg.Pool({ connectionString: url });", "fails the run when its server stops first"],
    ["  expect(performance.now() - began).toBeLessThan(500);", "bounds wall time from above"],
    ["  const took = Date.now() - began;\n  expect(took).toBeLessThan(500);", "bounds wall time from above"],
    ['it("works", { timeout: 5_000 }, async () => {', "a limit of vitest's"],
    ["}, 20_000);", "a limit of vitest's"],
    ["  async () => {\n  },\n  20_000,\n);", "a limit of vitest's"],
    ['it("works", {\n  timeout: 5_000,\n}, async () => {', "a limit of vitest's"],
    ['it(\n  "works",\n  {\n    timeout: 5_000,\n  },\n  () => {', "a limit of vitest's"],
    ["  await expect.poll(seen, { timeout: 20_000 }).toEqual([]);", "waits shorter than the run does"],
    ["  await vi.waitFor(() => expect(seen).toEqual([]));", "waits for a second at most"],
    ['it("is refused", () => {\n  send({ attemptTimeoutMs: 250 });\n});', "races real input and output"],
  ])("of a test: %s", (text, broken) => {
    const found = testViolationsOf({ path: "test/a.test.ts", text });
    expect(found).toHaveLength(1);
    expect(found[0]).toContain(broken);
  });

  it.each<[path: string, line: string]>([
    ["src/http/a.ts", 'import type { HeaderPair } from "../core/headers.js";'],
    ["src/jwks/a.ts", 'import { importPublicKey } from "../jwt/key.js";'],
    ["src/jwks/a.ts", 'import { type KeyResolver } from "../jwt/verify.js";'],
    ["src/sender/a.ts", 'import { createTransport } from "#transport";'],
    ["src/http/node/a.ts", 'import { lookup } from "node:dns";'],
    ["service/src/a.ts", 'import { receivedRequest } from "hookproof/node";'],
    ["service/inspector/a.tsx", 'import { useState } from "preact/hooks";'],
    ["service/inspector/a.tsx", 'import { LIMITS } from "../src/inspector/contract.js";'],
    ["cli/src/a.ts", 'import { startListeners } from "hookproof-service";'],
  ])("and kept: %s: %s", (path, text) => {
    expect(violationsOf({ path, text }, rights)).toEqual([]);
  });
});
