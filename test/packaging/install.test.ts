import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { browserBundle } from "./browser-bundle.js";
import { type InstalledPackage, installPackage, packagesIn } from "./installed-package.js";

let installed: InstalledPackage;

beforeAll(async () => {
  installed = await installPackage();
});

afterAll(() => installed?.remove());

function run(script: string): string {
  return execFileSync(process.execPath, ["--input-type=module", "-e", script], {
    cwd: installed.dir,
    encoding: "utf8",
  });
}

/** The entry that works only with an optional peer beside the library. */
const NEEDS_A_PEER = "hookproof/http-signature";

describe("the packed library in an empty folder", () => {
  it("brings exactly three packages next to itself, and nothing below them", () => {
    expect(packagesIn(installed.dir).sort()).toEqual(["@noble/hashes", "hookproof", "jose", "uuid"]);
    const lock = JSON.parse(readFileSync(join(installed.dir, "package-lock.json"), "utf8")) as {
      packages: Record<string, { dependencies?: Record<string, string> }>;
    };
    expect(Object.keys(lock.packages).filter((name) => name !== "")).toHaveLength(4);
    const { dependencies } = lock.packages["node_modules/hookproof"] ?? {};
    expect(Object.keys(dependencies ?? {}).sort()).toEqual(["@noble/hashes", "jose", "uuid"]);
  });

  it("holds what it should and nothing of the rest of the repository", () => {
    const top = readdirSync(join(installed.dir, "node_modules", "hookproof"));
    expect(top).toEqual(expect.arrayContaining(["LICENSE", "dist", "package.json", "src"]));
    const known = [
      "CHANGELOG.md",
      "LICENSE",
      "README.md",
      "SECURITY.md",
      "dist",
      "package.json",
      "src",
      "vectors",
    ];
    expect(top.filter((name) => !known.includes(name))).toEqual([]);
  });

  it("works: every entry loads on its built files, and signs", () => {
    const manifest = readFileSync(join(installed.dir, "node_modules/hookproof/package.json"), "utf8");
    const { exports } = JSON.parse(manifest) as { exports: Record<string, unknown> };
    const entries = Object.keys(exports).filter((entry) => !entry.endsWith(".json"));
    const all = entries.map((entry) => entry.replace(/^\./, "hookproof"));
    const names = all.filter((name) => name !== NEEDS_A_PEER);
    expect(names.length).toBe(all.length - 1);
    const loaded = run(`for (const name of ${JSON.stringify(names)}) {
      if (!import.meta.resolve(name).includes("/hookproof/dist/")) throw new Error(name);
      const isTypesOnly = name === "hookproof/outbox/store";
      if ((Object.keys(await import(name)).length === 0) !== isTypesOnly) throw new Error(name + " exports nothing");
      console.log(name);
    }`);
    expect(loaded.trim().split("\n")).toEqual(names);

    // The expected value is what openssl makes of it: printf '%s' "{input}" | openssl dgst -sha256 -hmac {secret}.
    const signed = run(`import { signHmac } from "hookproof";
      console.log(signHmac({
        secret: "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8",
        timestamp: 1767225600,
        eventId: "0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10",
        body: '{"type":"user.offboarded","userId":"u_123"}',
      }));`);
    expect(signed.trim()).toBe("hEuwC_Ckgwc7avU0xzAh6BEbIHQ49cz_g5zDepzyiTE");
  });

  it("says which package the entry with a peer needs", () => {
    const why = run(`await import("${NEEDS_A_PEER}").catch(({ message }) => console.log(message))`);
    expect(why).toContain("Cannot find package 'structured-headers'");
  });

  it("diagnoses requests of the other schemes without that package", () => {
    const said = run(`import { diagnose, mistakes } from "hookproof/diagnose";
      const body = '"eyJhbGciOiJub25lIn0.e30."';
      const found = await diagnose({ scheme: "security-event-token", request: { body } });
      console.log(found.mistakes[0].id, (await mistakes("standard-webhooks")).length > 10);
      await mistakes("http-signature").catch(({ message }) => console.log(message));`);
    expect(said).toMatch(/^body-in-quotes true\nCannot find package 'structured-headers'/);
  });

  it("is used with require() as well", () => {
    const script = 'console.log(typeof require("hookproof").createSender)';
    const args = ["--no-warnings", "--input-type=commonjs", "-e", script];
    expect(execFileSync(process.execPath, args, { cwd: installed.dir, encoding: "utf8" }).trim()).toBe(
      "function",
    );
  });

  it("has declarations that name no # import", () => {
    const dist = join(installed.dir, "node_modules/hookproof/dist");
    const declarations = readdirSync(dist, { recursive: true, encoding: "utf8" }).filter((name) =>
      name.endsWith(".d.ts"),
    );
    expect(declarations.length).toBeGreaterThan(20);
    for (const name of declarations)
      expect(readFileSync(join(dist, name), "utf8"), name).not.toMatch(/(?:from|import)\s*\(?\s*["']#/);
  });
});

describe("what an import costs in a browser", () => {
  it("HMAC alone: under 4,096 bytes gzip, without jose, uuid or a transport", async () => {
    const { code, inputs } = await browserBundle(installed.dir, 'export { signHmac } from "hookproof";');
    expect(gzipSync(code, { level: 9 }).length).toBeLessThan(4_096);
    expect(inputs.filter((name) => /node_modules\/(?:jose|uuid)\//.test(name))).toEqual([]);
    for (const foreign of ["compactVerify", "importJWK", "subtle", "randomUUID", "fetch(", "node:"])
      expect(code, foreign).not.toContain(foreign);
    expect(inputs.some((name) => name.includes("@noble/hashes"))).toBe(true);
  });

  it("Standard Webhooks both ways: without jose or uuid; and nobody has it who does not import it", async () => {
    const both =
      'export { standardWebhooksSigner, standardWebhooksVerifier } from "hookproof/standard-webhooks";';
    const { inputs } = await browserBundle(installed.dir, both);
    expect(inputs.filter((name) => /node_modules\/(?:jose|uuid)\//.test(name))).toEqual([]);
    const all =
      'export * from "hookproof"; export * from "hookproof/receiver"; export * from "hookproof/outbox"; export * from "hookproof/schemes";';
    expect((await browserBundle(installed.dir, all)).code).not.toMatch(/whpk_|webhook-id/);
  });

  it("HMAC both ways brings no more packages", async () => {
    const { inputs } = await browserBundle(
      installed.dir,
      'export { signHmac, verifyHmac, generateSecret } from "hookproof";',
    );
    expect(inputs.filter((name) => /node_modules\/(?:jose|uuid)\//.test(name))).toEqual([]);
  });

  it("everything for a browser bundles without a module of Node", async () => {
    const { code } = await browserBundle(
      installed.dir,
      'export * from "hookproof"; export * from "hookproof/jwks"; export * from "hookproof/receiver"; export * from "hookproof/outbox";',
    );
    expect(code).toContain("compact");
    expect(code).not.toMatch(/["']node:/);
  });
});
