import { writeFileSync } from "node:fs";
import { advicePage } from "./advice-page.js";

// `npm run generate` runs this; a test holds the page against the advice.
writeFileSync(new URL("../../../docs/advice.md", import.meta.url), await advicePage());
