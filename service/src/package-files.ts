import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

// Sources and built files both stand one folder below the package's own.

/** The package's version. */
export function packageVersion(): string {
  const manifest = readFileSync(new URL("../package.json", import.meta.url), "utf8");
  return (JSON.parse(manifest) as { version: string }).version;
}

/** Where the inspector's page is built to. */
export const PAGE_FOLDER = fileURLToPath(new URL("../dist/inspector-page/", import.meta.url));
