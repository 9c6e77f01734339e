import { writeFileSync } from "node:fs";
import { probesPage } from "./probes-page.js";

// `npm run generate` runs this; a test holds the page against the probes.
writeFileSync(new URL("../../../docs/probes.md", import.meta.url), probesPage());
