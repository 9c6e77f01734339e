import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { requirePackage, root } from "../kit/built-package.js";
import { packPackages } from "./packed-packages.js";

/** A registry that knows the three packed packages, and what the lockfile holds. */
export interface TarballRegistry {
  readonly url: string;
  stop(): Promise<void>;
}

interface LockedPackage {
  readonly version: string;
  /** Absent for a workspace, and so for our own packages. */
  readonly integrity?: string;
}

type Versions = Record<string, Record<string, unknown>>;

/**
 * Stands in for npm's registry, so that `npm install hookproof` works as it is written before anything is
 * published: our packages are their packed tarballs, and the others are listed in the lockfile's versions, with
 * npm's own addresses. npm takes those from its cache, where `npm ci` has put them.
 */
export async function startTarballRegistry(): Promise<TarballRegistry> {
  requirePackage();
  const folder = mkdtempSync(join(tmpdir(), "hookproof-registry-"));
  const tarballs = new Map<string, Buffer>();
  const known = lockedVersions();
  const server = createServer((request, response) => {
    const name = decodeURIComponent(request.url ?? "").slice(1);
    const tarball = tarballs.get(name);
    const versions = known.get(name);
    if (tarball) response.end(tarball);
    else if (versions)
      response.end(JSON.stringify({ name, versions, "dist-tags": { latest: newest(versions) } }));
    else response.writeHead(404).end("{}");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  for (const [name, path] of Object.entries(packPackages(folder))) {
    const tarball = readFileSync(path);
    const manifest = JSON.parse(
      execFileSync("tar", ["-xzOf", path, "package/package.json"], { encoding: "utf8" }),
    ) as { version: string };
    const integrity = `sha512-${createHash("sha512").update(tarball).digest("base64")}`;
    tarballs.set(`${name}.tgz`, tarball);
    known.set(name, {
      [manifest.version]: { ...manifest, dist: { tarball: `${url}${name}.tgz`, integrity } },
    });
  }
  return {
    url,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      rmSync(folder, { recursive: true });
    },
  };
}

/** Every package of the lockfile that came from a registry, by name and version. */
function lockedVersions(): Map<string, Versions> {
  const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as {
    packages: Record<string, LockedPackage>;
  };
  const known = new Map<string, Versions>();
  for (const [path, locked] of Object.entries(packages)) {
    const { version, integrity } = locked;
    if (!integrity) continue;
    const name = path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
    const versions = known.get(name) ?? {};
    const tarball = `https://registry.npmjs.org/${name}/-/${name.split("/").at(-1)}-${version}.tgz`;
    versions[version] = { name, ...locked, dist: { tarball, integrity } };
    known.set(name, versions);
  }
  return known;
}

/** The last that the lockfile names: which one it is matters only to ranges that more than one fits. */
function newest(versions: Versions): string | undefined {
  return Object.keys(versions).at(-1);
}
