import { writeFileSync } from "node:fs";
import { checksPage } from "./checks-page.js";

// `npm run generate` runs this; a test compares the page with the table.
writeFileSync(new URL("../../docs/checks.md", import.meta.url), checksPage());
