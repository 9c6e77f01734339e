// Writes what docs/simulation.md and docs/proof.md say of rules, mutants and runs: npm run generate.
import { writeFileSync } from "node:fs";
import { generatedPages } from "./pages.js";

const root = new URL("../../", import.meta.url);
for (const [path, text] of generatedPages(root)) writeFileSync(new URL(path, root), text);
