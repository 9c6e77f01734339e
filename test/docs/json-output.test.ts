import { readFileSync } from "node:fs";
import { join } from "node:path";
import { openSqlite } from "hookproof/node";
import { createOutbox } from "hookproof/outbox";
import { sqliteStore } from "hookproof/outbox/sqlite";
import { beforeAll, expect, it } from "vitest";
import { EXIT } from "../../cli/src/failure.js";
import { LISTENER } from "../../cli/test/kit/other-program.js";
import { documentedTypes, isAsDocumented } from "../kit/json-output.js";
import { ROOT } from "../kit/markdown.js";
import { openStage, requireBuild } from "../kit/transcript.js";

/** Commands that between them print every type of document. */
const STORY = `
hookproof init --yes
hookproof listen &
hookproof listen --port 4411 --no-ui --until 1 --json | tee listened.jsonl &
hookproof send :4400 --data '{"a":1}'
hookproof send :4400 --data '{"a":1}' --dry-run
printf '1\\n{"a":1}\\n' | hookproof send :4400 --batch --data -
hookproof send http://127.0.0.1:4411/api/v1/webhooks/incoming/lst_local --data '{"a":1}' --profile default
cat listened.jsonl; until grep -q served listened.jsonl; do sleep 0.05; done; tail -1 listened.jsonl
hookproof replay last
hookproof replay --since 1h --yes
hookproof sign :4400 --data '{"a":1}'
hookproof sign :4400 --data 1 --curl
hookproof events export last --as http > event.http; hookproof verify event.http
sed 's/userId/user/' event.http > received.http; hookproof verify --sent event.http --received received.http
hookproof test :4400 --only correct-request --allow-trigger
umask 077; echo HyEjJScpKy0vMTM1Nzk7PT9BQ0VHSUtNT1FTVVdZW10 > other.txt; hookproof test :4400 --secret-file other.txt
hookproof test :4400 --only timestamp-missing --record tenant.json; hookproof test :4400 --only timestamp-missing --expect tenant.json --json
hookproof test --list
hookproof demo --exit
hookproof keys generate --alg ES256 --kid one --store keys
hookproof keys list --store keys
hookproof keys show one --store keys
hookproof keys export one --store keys
hookproof keys rotate --alg ES256 --store keys --yes
hookproof keys retire one --store keys --force
hookproof keys remove one --store keys --force
hookproof jwks export --store keys
hookproof jwks serve --store keys &
hookproof jwks check http://127.0.0.1:4410/.well-known/jwks.json
hookproof keys generate --kid fresh --store keys
hookproof jwks publish --store keys --url http://127.0.0.1:4410/.well-known/jwks.json --folder www
hookproof jwks publish --store keys --url http://127.0.0.1:4410/.well-known/jwks.json --folder www --watch --json > watched.jsonl & until grep -q publication watched.jsonl; do sleep 0.05; done; kill -INT $!; wait $!; tail -1 watched.jsonl
hookproof jwks publish --store keys --release
echo eyJhbGciOiJFUzI1NiJ9.eyJhIjoxfQ.AAAA | hookproof inspect -
echo eyJ0eXAiOiJzZWNldmVudCtqd3QifQ.eyJhIjoxfQ.AAAA | hookproof inspect -
hookproof snippet --lang go
hookproof secret show
hookproof secret env
hookproof outbox create --outbox app.db
hookproof outbox status --outbox app.db
hookproof outbox list --outbox app.db
hookproof outbox pause offboarding --reason moving --outbox app.db
hookproof outbox resume offboarding --outbox app.db
hookproof outbox cancel 1b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10 --outbox app.db
hookproof outbox dead --outbox app.db
hookproof outbox redrive --outbox app.db --dry-run
hookproof outbox drop --outbox app.db --all --dry-run
hookproof profile add offboarding --target :4400
hookproof outbox work --outbox app.db --drain --listener offboarding
hookproof outbox attempts --outbox app.db 0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10
hookproof profile list
hookproof profile show default
hookproof profile use offboarding
hookproof profile remove offboarding
hookproof profile path
hookproof profile explain
hookproof doctor http://127.0.0.1:4400
hookproof explain BODY_NOT_JSON
hookproof explain decoded
hookproof send --list-events
hookproof help
hookproof help send
hookproof --version
hookproof completion bash
hookproof events list
hookproof events show last
hookproof events export last
hookproof events export last --as curl
hookproof events export last --out event.json
hookproof events diff last last
hookproof events clear --yes
hookproof service seed --db s.db --users 10
hookproof service start --db s.db &
hookproof service routes --db s.db
hookproof service token --db s.db --base-url http://127.0.0.1:4420
hookproof service token --sdk --db s.db --base-url http://127.0.0.1:4420
hookproof service fault getAuthConfig --status 503 --db s.db --base-url http://127.0.0.1:4420
hookproof service fault --db s.db --base-url http://127.0.0.1:4420
hookproof service fault --clear --db s.db --base-url http://127.0.0.1:4420
hookproof service clock --advance 1h --db s.db --base-url http://127.0.0.1:4420
hookproof service snapshot save one --db s.db --base-url http://127.0.0.1:4420
hookproof service snapshot list --db s.db --base-url http://127.0.0.1:4420
hookproof service automation list --db s.db --base-url http://127.0.0.1:4420 --json | tee automations.txt
hookproof service automation run "$(sed 's/.*"id":"\\([^"]*\\)".*/\\1/; s/ .*//' automations.txt)" --event '{"type":"user.offboarded","userId":"u_1"}' --db s.db --base-url http://127.0.0.1:4420
hookproof service journal --db s.db --base-url http://127.0.0.1:4420
hookproof service journal --clear --db s.db --base-url http://127.0.0.1:4420
hookproof service reset --db s.db --yes
`;

const page = readFileSync(join(ROOT, "docs/json-output.md"), "utf8");
beforeAll(requireBuild);

it("docs/json-output.md names every type that is printed, and its members", async () => {
  const stage = await openStage();
  const printed: Record<string, unknown>[] = [];
  try {
    const store = sqliteStore({ open: () => openSqlite(join(stage.folder, "work/app.db")) });
    const outbox = createOutbox({ store, listeners: { offboarding: LISTENER } });
    for (const n of [0, 1])
      await outbox.enqueue({
        listener: "offboarding",
        eventId: `${n}b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10`,
        payload: {},
      });
    await store.close();
    for (const command of STORY.trim().split("\n")) {
      const line = /--json|^cat/.test(command) ? command : command.replace(/( &)?$/, " --json$1");
      const seen = await stage.run(line);
      for (const text of seen.filter((one) => one.startsWith("{")))
        printed.push({ ...JSON.parse(text), command });
    }
  } finally {
    await stage.close();
  }
  const wrong = printed.filter(({ command: _, ...document }) => !isAsDocumented(document));
  const shapes = wrong.map(({ command, ...document }) => `${command}: ${Object.keys(document)}`);
  expect([...new Set(shapes)]).toEqual([]);
  // cli/test/mcp.test.ts looks at those of the tools.
  const types = documentedTypes().flatMap(({ type, by }) => (by.startsWith("`mcp`") ? [] : [type]));
  expect(types.filter((type) => !printed.some((one) => one.type === type))).toEqual([]);
});

it("docs/json-output.md has every exit code", () => {
  const codes = [...page.matchAll(/^\| (\d+) +\|/gm)].map(([, code]) => Number(code));
  expect(codes).toEqual(Object.values(EXIT));
});
