// Finds the files of this package.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

// This file stays in src itself: the path is the same from src and from dist.
const folder = new URL("../", import.meta.url);

/** The place of one of the package's own files; `name` is relative to the package's folder. */
export const packageFile = (name: string): URL => new URL(name, folder);

/** The package's version. */
export function packageVersion(): string {
  const manifest = readFileSync(packageFile("package.json"), "utf8");
  return (JSON.parse(manifest) as { version: string }).version;
}

/** Where the inspector's page is built to. */
export const PAGE_FOLDER = fileURLToPath(packageFile("dist/inspector-page/"));

/** Where the page of an outbox is built to. */
export const OUTBOX_PAGE_FOLDER = fileURLToPath(packageFile("dist/outbox-page/"));
