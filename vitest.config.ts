import { configDefaults, defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { cleanEnvironment } from "./test/kit/environment.js";
import { RunReporter } from "./test/kit/run-reporter.js";
import { seed } from "./test/kit/seed.mjs";

// Without "import", which Vite adds by itself: vitest hands these on to Node, whose require() would follow it.
const conditions = ["source", "node"];

/** What .ci/run adds to `npm test`, each with a script of its own: `npm run test:databases` and so on. */
const ADDED = {
  databases: [
    "test/replay/{copies-over-http,postgres-*,redis-*,replay-across-*}.test.ts",
    "test/outbox/postgres/*.test.ts",
    "cli/test/{on-call,outbox}-postgresql.test.ts",
    "test/examples/{outbox-tenants,orm}.test.ts",
    "test/image/compose.test.ts",
  ],
  // The packed packages, installed and compiled as their users do.
  packages: [
    "test/packaging/{bill,commonjs,first-pages,global,image-context,install,release,weight}.test.ts",
    "test/types/{consumers,guides}.test.ts",
    "test/image/kubernetes.test.ts",
  ],
  // Programs of other languages, and listeners in their frameworks.
  languages: [
    "test/doctor/diagnose/printers.test.ts",
    "test/inspector/programs.test.ts",
    "test/doctor/diagnose/frameworks/*.test.ts",
    "cli/test/snippets.test.ts",
    "test/doctor/advice/compiled-fixes.test.ts",
    "test/jwks/strict-verifiers.test.ts",
  ],
  browser: ["test/browser/*.test.ts"],
  // The documentation site, built.
  site: ["test/site/*.test.ts"],
  // 300 worlds, each twice, and mutants of the library.
  simulation: ["test/simulation/*.test.ts", "test/model/*.test.ts"],
  chaos: ["test/chaos/{limits,outbox,outbox-faults,sqlite-full-disk,tenants}.test.ts"],
};

/** What is heavy, of the rooms that `npm test` looks at: `npm run test:thorough`. */
const THOROUGH = [
  // Dozens of processes each.
  "cli/test/{alerts,bad-settings,completion-shells,interrupted-servers,jwks-publish,key-forms,last-edges}.test.ts",
  "cli/test/{man-pages,mcp,mcp-lines,network,next-steps,on-call,outbox,prompts,reach}.test.ts",
  "cli/test/{secret-mounts,start,targets,terminal,tls,transcripts,written-files}.test.ts",
  "test/doctor/advice/run-{commands,fixes,stories}.test.ts",
  "test/doctor/diagnose/{guide,shell-signers}.test.ts",
  "test/docs/{blocks,json-output,transcripts}.test.ts",
  "test/examples/*.test.ts",
  "test/jwks/resolver-hostile.test.ts",
  "test/kit/{command-host,run-reporter}.test.ts",
  "test/packaging/action.test.ts",
  "test/doctor/probes/{examples,one-bug,one-bug-tokens}.test.ts",
  "test/receiver/adapter-examples.test.ts",
  "test/schemes/wrong-senders.test.ts",
  "test/service/{cel,cel-conformance,cel-functions,debug-run,embedding,export-state,objects,private-files}.test.ts",
  "test/sqlite/elsewhere.test.ts",
  "test/tools/{hooks,stages,stress}.test.ts",
  // Killed processes, and many at once.
  "test/chaos/keys.test.ts",
  "test/jwks/rotation-under-load.test.ts",
  "test/key-store/publish-under-load.test.ts",
  "test/outbox/sqlite/kills.test.ts",
  "test/sender/chaos.test.ts",
  "test/service/{crash,crash-writes,hanging-automations}.test.ts",
  // Growth, memory, time of the processor.
  "test/growth.test.ts",
  "test/doors/work.test.ts",
  "test/key-store/passphrase.test.ts",
  "test/outbox/{failing-lookups,fairness,tenants,upkeep}.test.ts",
  "test/outbox/sqlite/turns.test.ts",
  "test/service/{access-tokens,client-secrets,expression-lanes,expressions,ingestion,secrets}.test.ts",
  "test/service/{token-memory,upload-memory}.test.ts",
  // Hundreds of inputs, and every mutant of a listener.
  "cli/test/{bad-values,hostile-text,mcp-bad-values,mutants,odd-files}.test.ts",
  "test/doctor/{diagnose,schemes}/no-false-cause.test.ts",
  "test/doctor/diagnose/properties.test.ts",
  "test/doctor/gathered/*.test.ts",
  "test/jwks/hostile-key-sets.test.ts",
  "test/outbox/proxies.test.ts",
  "test/outbox/sqlite/model.test.ts",
  "test/fuzz/fuzz.test.ts",
  "test/doctor/probes/{mutants,own-listener,verdict}.test.ts",
  "test/receiver/{callbacks,properties,spellings}.test.ts",
  "test/service/{hostile-requests,paging,properties,remote-control,tenants,wrong-types}.test.ts",
  "test/types/{doc-examples,hover}.test.ts",
  // What only root can do.
  "test/{inspector,key-store}/other-user.test.ts",
];

/** What measures the memory of its own process; part of `npm run test:thorough`. */
const ALONE = [
  "test/receiver/hostile-bodies.test.ts",
  "test/jwks/hostile-key-hosts.test.ts",
  "test/inspector/feed.test.ts",
  "test/sender/{garbage,hostile-receiver,send-many}.test.ts",
  "test/service/seed.test.ts",
];

/** The files of minutes begin first: begun last, one would run alone. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification) =>
      /site\/browser|cli\/test\/(?:snippets|transcripts|targets|tls)|(?:expressions|guides|commonjs|first-pages)\.test|postgres\/(?:contract|races)|json-output|growth/.test(
        moduleId,
      );
    const sorted = await super.sort(files);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

// Workers and the processes of tests inherit what is left.
cleanEnvironment(process.env);

// Once: vitest reads this file for each project. Workers and the processes of tests inherit it.
if (!process.env.HOOKPROOF_SEED) {
  process.env.HOOKPROOF_SEED = String(seed);
  console.info(`HOOKPROOF_SEED=${seed}`);
}

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    // For what hangs: what is slow on a busy machine is not wrong.
    testTimeout: process.env.MUTATION_ROOM ? 60_000 : 600_000,
    hookTimeout: 600_000,
    // How long something may take that is bound to come, as a machine has slow moments; what a mutant holds back does not come.
    expect: { poll: { timeout: process.env.MUTATION_ROOM ? 5_000 : 60_000 } },
    // On two cores: many tests here wait for processes and sockets.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    globalSetup: "test/kit/test-run.ts",
    setupFiles: "test/kit/worker.ts",
    reporters: ["default", new RunReporter()],
    projects: [
      // Tests are handed all they need and change nothing global, so that files can share what they import.
      {
        extends: true,
        test: {
          name: "main",
          isolate: false,
          include: [
            "test/**/*.test.ts",
            "service/test/**/*.test.ts",
            "cli/test/**/*.test.ts",
            "examples/*vitest.test.mjs",
          ],
          exclude: [...configDefaults.exclude, ...THOROUGH, ...ALONE, ...Object.values(ADDED).flat()],
        },
      },
      {
        extends: true,
        test: {
          name: "thorough",
          isolate: false,
          include: THOROUGH,
          exclude: [...configDefaults.exclude, ...Object.values(ADDED).flat()],
        },
      },
      ...Object.entries({ alone: ALONE, ...ADDED }).map(([name, include]) => ({
        extends: true as const,
        test: { name, include, ...(name === "site" && { globalSetup: "test/site/built-site.ts" }) },
      })),
    ],
  },
});
