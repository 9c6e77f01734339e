import { writeFileSync } from "node:fs";
import { doorsPage } from "./doors-page.js";

// `npm run generate` runs this; a test compares the page with the table.
writeFileSync(new URL("../../docs/doors.md", import.meta.url), doorsPage());
