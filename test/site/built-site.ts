import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { promisify } from "node:util";
import axe from "axe-core";
import { inject } from "vitest";
import type { TestProject } from "vitest/node";
import { ROOT } from "../kit/markdown.js";
import { describeWith } from "../kit/needs.js";

/** Where the site under test stands, and the repository it is told of. */
export const BASE = "/hookproof/";
export const REPOSITORY = "https://github.com/example/hookproof";

const AXE = "/axe.js";

const IS_INSTALLED = existsSync(join(ROOT, "site/node_modules"));
const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".css": "text/css",
  ".js": "text/javascript",
  ".svg": "image/svg+xml",
  ".webp": "image/webp",
};

/** A site in a folder of its own, served on loopback below `BASE` and nowhere else. */
export interface BuiltSite {
  readonly folder: string;
  /** Its pages by their addresses below `BASE`, such as `guides/outbox/`. */
  readonly pages: ReadonlyMap<string, string>;
  readonly url: string;
  /** Where pages load axe from: a browser compiles once what it loads, and each time what it is handed. */
  readonly axeUrl: string;
  close(): void;
}

/** Tests of the site; skipped where its folder has not been installed. */
export function describeSite(title: string, tests: () => void): void {
  describeWith("site", IS_INSTALLED)(title, tests);
}

declare module "vitest" {
  export interface ProvidedContext {
    /** Where the site was built; empty where it could not be. */
    readonly siteFolder: string;
  }
}

/** Builds the site once for all test files of the project, as its workflow does. */
export default async function setup({ provide }: TestProject): Promise<() => void> {
  const folder = mkdtempSync(join(tmpdir(), "hookproof-site-"));
  const where = ["--repository", REPOSITORY, "--base", BASE, "--out", folder];
  const { PATH, HOME } = process.env; // vitest's own BASE_URL would become the site's
  if (IS_INSTALLED)
    await promisify(execFile)(process.execPath, [join(ROOT, "site/build.mjs"), ...where], {
      env: { PATH, HOME },
    });
  provide("siteFolder", folder);
  return () => rmSync(folder, { recursive: true });
}

/** Serves what was built. */
export async function openSite(): Promise<BuiltSite> {
  const folder = inject("siteFolder");
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" });
  const pages = files
    .filter((name) => name.endsWith("index.html"))
    .map((name) => [name.replace(/index\.html$/, ""), readFileSync(join(folder, name), "utf8")] as const);
  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url ?? "", "http://site").pathname);
    if (path === AXE) {
      response.setHeader("content-type", "text/javascript");
      response.setHeader("cache-control", "max-age=3600");
      return void response.end(axe.source);
    }
    const name = path.startsWith(BASE) ? path.slice(BASE.length).replace(/(^|\/)$/, "$1index.html") : "";
    if (!files.includes(name) || extname(name) === "") return void response.writeHead(404).end();
    response.setHeader("content-type", TYPES[extname(name)] ?? "application/octet-stream");
    response.end(readFileSync(join(folder, name)));
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    folder,
    pages: new Map(pages),
    url: origin + BASE,
    axeUrl: origin + AXE,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
