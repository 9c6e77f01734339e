import { writeFileSync } from "node:fs";
import { fixtureSchema } from "../../service/src/state/fixture-schema.js";

// `npm run generate` runs this after a change of the OpenAPI document.
writeFileSync(
  new URL("../../service/fixture.schema.json", import.meta.url),
  `${JSON.stringify(fixtureSchema(), null, 2)}\n`,
);
