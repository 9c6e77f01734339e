// Pins which tests check:fast chooses for a change.
import { expect, it } from "vitest";
import { chooseTests } from "./rooms.mjs";

const TEXTS: Record<string, string> = {
  "test/architecture.test.ts": "",
  "test/jwt/sign.test.ts": "",
  "test/jwt/verify.test.ts": 'import { decode } from "../../src/jwt/decode.js";',
  "test/outbox/order.test.ts": 'import { bench } from "./bench-outbox.js";',
  "test/outbox/sqlite/store.test.ts": 'import { bench } from "../bench-outbox.js";',
  "test/outbox/postgres/store.test.ts": "",
  "test/service/access-tokens.test.ts": "",
  "test/service/heavy.test.ts": "",
  "test/service/whole-days.test.ts": "",
  "test/inspector/guard.test.ts": 'import { listen } from "../kit/own-server.js";',
  "test/docs/links.test.ts": 'const PAGES = ["tour.md"];',
  "test/docs/blocks.test.ts": "",
  "test/examples/emitters.test.ts": 'start("emit-hono.mjs")',
  "cli/test/transcripts.test.ts": "",
  "cli/test/prompts.test.ts": "",
  "cli/test/transcripts/publish.txt": "$ hookproof jwks publish\n$ hookproof keys",
  "cli/test/transcripts/keys.txt": "$ hookproof keys rotate",
  "cli/test/transcripts/usage.txt": `${"$ hookproof help\n".repeat(45)}$ hookproof jwks publish`,
};

const all = Object.keys(TEXTS)
  .filter((file) => file.endsWith(".test.ts"))
  .map((file) => ({ file, project: projectOf(file) }));

function projectOf(file: string): string {
  if (file.includes("postgres")) return "databases";
  return file.includes("whole-days") ? "alone" : "main";
}

function choose(...changed: string[]) {
  const { files, stories, left, roomless } = chooseTests({
    changed,
    all,
    stories: ["publish", "keys", "usage"],
    read: (path) => TEXTS[path] ?? "",
    seconds: (file) => (file.includes("heavy") ? 60 : 1),
  });
  return { files, stories, left: Object.fromEntries(left), roomless };
}

const chosen = (...files: string[]) => ({ files, stories: [], left: {}, roomless: [] });

it.each([
  ["src/jwt/decode.ts", "test/architecture.test.ts", "test/jwt/verify.test.ts", "test/jwt/sign.test.ts"],
  ["src/outbox/sqlite/plans.ts", "test/architecture.test.ts", "test/outbox/sqlite/store.test.ts"],
  ["test/outbox/sqlite/store.test.ts", "test/outbox/sqlite/store.test.ts"],
  ["test/kit/own-server.ts", "test/inspector/guard.test.ts"],
  ["service/src/inspector/feed.ts", "test/architecture.test.ts", "test/inspector/guard.test.ts"],
  ["docs/tour.md", "test/docs/links.test.ts", "test/docs/blocks.test.ts"],
  ["examples/emit-hono.mjs", "test/examples/emitters.test.ts"],
])("%s: its folder, and what names it", (changed, ...files) => {
  expect(choose(changed)).toEqual(chosen(...files));
});

it("a heavy file is left out unless it is what has changed, and so is what npm test does not run", () => {
  expect(choose("service/src/auth/access-token.ts")).toEqual({
    ...chosen("test/architecture.test.ts", "test/service/access-tokens.test.ts"),
    left: {
      "npm test": ["test/service/heavy.test.ts"],
      "npm run test:thorough": ["test/service/whole-days.test.ts"],
    },
  });
  for (const file of ["test/service/heavy.test.ts", "test/service/whole-days.test.ts"])
    expect(choose(file).files).toContain(file);
  expect(choose("src/outbox/postgres/store.ts").left).toEqual({
    "npm run test:databases": ["test/outbox/postgres/store.test.ts"],
  });
});

it("a command: the transcripts that name it, the short ones", () => {
  expect(choose("cli/src/commands/jwks-publish.ts")).toEqual({
    ...chosen("test/architecture.test.ts", "cli/test/prompts.test.ts"),
    stories: ["publish"],
    left: { "npm run test:thorough": ["cli/test/transcripts/usage.txt"] },
  });
  expect(choose("cli/test/transcripts/usage.txt").stories).toEqual(["usage"]);
});

it("a file that all tests stand on is named, and so is a removed one", () => {
  expect(choose("package.json", "test/gone/gone.test.ts")).toEqual({
    ...chosen(),
    roomless: ["package.json", "test/gone/gone.test.ts"],
  });
});
