// @ts-check
// Checks a manifest on standard input against the schemas of Kubernetes: prints the kind of each document, or fails.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { parseAllDocuments } from "yaml";

const require = createRequire(import.meta.url);
for (const document of parseAllDocuments(readFileSync(0, "utf8"))) {
  const manifest = document.toJS();
  const { [manifest.kind]: Kind } = require(`kubernetes-models/${manifest.apiVersion}`);
  new Kind(manifest).validate();
  console.log(`${manifest.apiVersion} ${manifest.kind}`);
}
