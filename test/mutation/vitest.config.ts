import { fileURLToPath } from "node:url";
import { defineConfig, mergeConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import manifest from "../../package.json" with { type: "json" };
import service from "../../service/package.json" with { type: "json" };
import base from "../../vitest.config.js";
import { room } from "./rooms.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));

// node_modules/hookproof is a link to the checkout. In Stryker's copy of it the name must mean the copy, or no test
// that imports the library as users do ever meets a mutant.
const aliasesOf = (name: string, exports: Record<string, string | { source: string }>, folder: string) =>
  Object.entries(exports).flatMap(([entry, target]) =>
    typeof target === "string"
      ? []
      : [
          {
            find: new RegExp(`^${name}${entry.slice(1)}$`),
            replacement: `${folder}${target.source.slice(2)}`,
          },
        ],
  );
const alias = [
  ...aliasesOf("hookproof", manifest.exports, root),
  ...aliasesOf("hookproof-service", service.exports, `${root}service/`),
];

// The room's tests and no others: a project has an `include` of its own, and the tests that start programs need what is
// not in the copy. The folder for temporary files, and the look at what is left in it, belong to a whole run as well.
const { projects: _, globalSetup: __, reporters: ___, ...test } = base.test ?? {};

/** A mutant is done with at the first test that fails, so the room's slow files come last. */
class SlowLast extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isSlow = ({ moduleId }: TestSpecification) =>
      (room.slow ?? []).some((name: string) => moduleId.endsWith(`/${name}.test.ts`));
    return [...files.filter((file) => !isSlow(file)), ...files.filter(isSlow)];
  }
}

export default mergeConfig(
  { ...base, test: { ...test, include: [] } },
  // Each run of Stryker has modules of its own; the files of one run may share them, as in `npm test`.
  defineConfig({
    root,
    resolve: { alias },
    test: { include: room.tests, isolate: false, sequence: { sequencer: SlowLast } },
  }),
);
