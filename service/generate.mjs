// Writes what is made of openapi.yaml: its types, and the same document as JSON, which is read 100 times as fast.
import { readFileSync, writeFileSync } from "node:fs";
import openapiTypeScript, { astToString, COMMENT_HEADER } from "openapi-typescript";
import { parse } from "yaml";

const source = new URL("openapi.yaml", import.meta.url);

/** The generated files by their path, as they should be. */
export async function generated() {
  const document = parse(readFileSync(source, "utf8"));
  return {
    "src/api/openapi.ts": COMMENT_HEADER + astToString(await openapiTypeScript(source)),
    "openapi.json": `${JSON.stringify(document, null, 2)}\n`,
  };
}

if (process.argv[1] === import.meta.filename) {
  for (const [path, text] of Object.entries(await generated())) {
    writeFileSync(new URL(path, import.meta.url), text);
  }
}
