import { writeFileSync } from "node:fs";
import { schedulePage, schedulePicture } from "./schedule-page.js";

// `npm run generate` runs this; a test compares both with the policy.
writeFileSync(new URL("../../docs/guides/retry-schedule.md", import.meta.url), schedulePage());
writeFileSync(new URL("../../docs/images/retry-schedule.svg", import.meta.url), schedulePicture());
