import { writeFileSync } from "node:fs";
import { conformancePage } from "./conformance-page.js";

// `npm run generate` runs this; a test compares the page with the table.
writeFileSync(new URL("../../../docs/service-conformance.md", import.meta.url), conformancePage());
