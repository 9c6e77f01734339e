// @ts-check
import { room } from "./rooms.mjs";

export default {
  mutate: room.mutate,
  // Another wording of a rule or a message is not a defect.
  mutator: { excludedMutations: ["StringLiteral"] },
  testRunner: "vitest",
  // All tests of the room, also where some lines alone are mutated: one that runs nothing then cannot be loaded.
  vitest: { configFile: "test/mutation/vitest.config.ts", related: false },
  coverageAnalysis: "perTest",
  incremental: false,
  concurrency: 2,
  timeoutMS: 8_000,
  dryRunTimeoutMinutes: 10,
  ignorePatterns: [
    "bench",
    ...(room.cli ? [] : ["cli"]),
    // vitest.config.ts reads the manifest of the service in every room.
    ...(room.service ? [] : ["service/*", "!service/package.json"]),
    ".ci",
    ".stryker-tmp",
    "test/mutation/report",
  ],
  reporters: ["progress-append-only", "clear-text", "json", "event-recorder"],
  clearTextReporter: { allowColor: false, allowEmojis: false, logTests: false, reportTests: false },
  jsonReporter: { fileName: `test/mutation/report/${process.env.MUTATION_ROOM}.json` },
  eventReporter: { baseDir: `test/mutation/report/${process.env.MUTATION_ROOM}-events` },
  tempDirName: `.stryker-tmp/${process.env.MUTATION_ROOM}`,
  warnings: { slow: false },
  // Survivors are read one by one (docs/mutation.md); a percentage decides nothing.
  thresholds: { break: null },
};
