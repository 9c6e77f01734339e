import { copyFileSync, writeFileSync } from "node:fs";
import { configSchema } from "../../src/config/settings.js";
import { errorPage } from "./error-page.js";
import { referencePage } from "./reference.js";
import { SIGNERS } from "./signers.js";
import { snippetPage } from "./snippet-page.js";

const root = new URL("../../../", import.meta.url);
writeFileSync(new URL("docs/cli.md", root), await referencePage());
writeFileSync(new URL("docs/errors.md", root), await errorPage());
writeFileSync(new URL("cli/hookproof.schema.json", root), `${JSON.stringify(configSchema(), null, 2)}\n`);
for (const [example, snippet] of SIGNERS)
  copyFileSync(new URL(`examples/signature/${example}`, root), new URL(`cli/snippets/${snippet}`, root));
writeFileSync(new URL("docs/snippets.md", root), snippetPage());
