// The parsers of what the local service, its inspector and its pages are sent or given.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FixtureError, parseFixture } from "hookproof-service";
import { inertJson } from "../../../cli/src/output.js";
import { ApiError } from "../../../service/src/api/errors.js";
import { lenientBody } from "../../../service/src/api/lenient-body.js";
import { pageTokens } from "../../../service/src/api/paging.js";
import { maskedFields } from "../../../service/src/api/routes/update-mask.js";
import { halfPairs, isDeeper } from "../../../service/src/api/well-formed.js";
import { createExpressions, type Expressions } from "../../../service/src/automations/expressions.js";
import { parseTemplates, TemplateError, type Templates } from "../../../service/src/automations/template.js";
import { detailOf } from "../../../service/src/inspector/detail.js";
import type { Entry } from "../../../service/src/inspector/entry.js";
import { readEntryLine } from "../../../service/src/inspector/entry-line.js";
import { readImport } from "../../../service/src/inspector/import-file.js";
import { openJournal } from "../../../service/src/inspector/journal.js";
import { matcher, readQuery } from "../../../service/src/inspector/query.js";
import {
  readForcedAnswer,
  readMark,
  readReplayOrder,
  readTestEvent,
} from "../../../service/src/inspector/read-orders.js";
import { nameOf, readPause, readRedrive } from "../../../service/src/outbox/read-orders.js";
import { InspectorError } from "../../../service/src/page/inspector-error.js";
import { holds, never, type Parser } from "../parser.js";

const text = (input: Buffer) => input.toString("utf8");
const isInspector = (error: unknown) => error instanceof InspectorError && error.status < 500;
const isApi = (error: unknown) => error instanceof ApiError && error.status < 500;

const REQUEST_LINE = JSON.stringify({
  ...{
    v: 1,
    type: "request",
    n: 3,
    at: 1_767_225_600_000,
    method: "POST",
    status: 401,
    code: "TOKEN_EXPIRED",
  },
  ...{
    url: "/api/v1/webhooks/incoming/lst_1",
    listenerId: "lst_1",
    eventId: "x",
    auth: "jwt",
    durationMs: 3,
  },
  headers: [
    ["Authorization", "Bearer eyJhbGciOiJFZERTQSIsImtpZCI6ImsifQ.eyJleHAiOjF9.AAAA"],
    ["Webhook-Signature", "AAAA"],
    ["Webhook-Timestamp", "1767225600"],
  ],
  ...{
    bodyBase64: "eyJhIjoxfQ==",
    checks: [{ step: "exp", ok: false, rule: "x", seen: "1", code: "TOKEN_EXPIRED" }],
  },
  ...{
    mistakes: [{ id: "a", title: "b", message: "c", fix: "d" }],
    answer: { headers: [["a", "b"]], body: "x" },
  },
  demanded: {
    auth: "jwt",
    claims: { exp: { rule: "x" } },
    key: { kid: "k" },
    secretFingerprints: [],
    checks: [],
  },
});
const HAR = JSON.stringify({
  log: {
    entries: [
      {
        startedDateTime: "2026-01-01T00:00:00Z",
        request: {
          ...{ method: "POST", url: "https://x/api/v1/webhooks/incoming/lst_1" },
          ...{ headers: [{ name: "a", value: "b" }], postData: { text: "e30=", encoding: "base64" } },
        },
        response: { status: 200, headers: [], content: { text: "x" } },
        _hookproof: { v: 1, type: "request", status: 200, checks: [] },
      },
    ],
  },
});

/** What the page is shown of an entry. */
function shownOf(entry: Entry): void {
  detailOf(entry, { url: "http://x/", first: entry, run: undefined, isRestored: false });
}

let folder: string | undefined;
const temporary = () => (folder ??= mkdtempSync(join(tmpdir(), "hookproof-fuzz-")));

/** The bytes of a real history with one request. */
async function journalBytes(): Promise<Buffer> {
  const made = join(temporary(), "made.db");
  const journal = await openJournal(made, () => {});
  journal.add(readEntryLine(JSON.parse(REQUEST_LINE)) as Entry);
  journal.close();
  return readFileSync(made);
}

let expressions: Expressions | undefined;

/** What the service's parsers keep open. */
export async function closeService(): Promise<void> {
  await expressions?.stop();
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
}

const FIXTURE = `users:
  - id: user-ada
    displayName: Ada
    email: &mail ada@example.com
    emails: [*mail]
apps:
  - id: app-1
    displayName: App
secrets:
  - id: note
    creatorUserId: user-ada
    text: hunter2
automations:
  - id: auto-1
    listenerId: lst-1
    trigger: { hmac: {} }
    steps:
      - name: a
        templates: { all: "{{ ctx.trigger }}" }
`;

export const SERVICE_PARSERS: readonly Parser[] = [
  {
    name: "fixtures",
    examples: [
      FIXTURE,
      JSON.stringify({ users: [{ id: "a" }], clients: [{ id: "c", secret: "x".repeat(43) }] }),
    ],
    words: [
      "- id: ",
      ": ",
      "&a ",
      "*a",
      "<<: ",
      "!!binary ",
      "|\n",
      "? ",
      "users:\n",
      "text: ",
      "%YAML 1.1\n",
      "---\n",
    ],
    quick: 100,
    most: 16_384,
    refuses: (error) => error instanceof FixtureError,
    async read(input) {
      await parseFixture(text(input));
      return undefined;
    },
  },
  {
    name: "imported-requests",
    examples: [REQUEST_LINE, HAR, `${REQUEST_LINE}\n${REQUEST_LINE}`],
    refuses: isInspector,
    read(input) {
      const { entries } = readImport(text(input));
      for (const entry of entries) {
        const { demanded: _ofAnother, ...kept } = entry;
        shownOf(kept as Entry);
        holds(!Number.isNaN(new Date(entry.row.at).getTime()), "a request has a time that can be shown");
      }
      return undefined;
    },
  },
  {
    name: "history-lines",
    examples: [REQUEST_LINE],
    refuses: never,
    read(input) {
      let value: unknown;
      try {
        value = JSON.parse(text(input));
      } catch {
        return undefined;
      }
      const entry = readEntryLine(value);
      if (entry) shownOf(entry);
      return undefined;
    },
  },
  {
    name: "history-files",
    // Made when it is first read: the real bytes are SQLite's own.
    examples: ["SQLite format 3\0"],
    quick: 60,
    refuses: (error) => error instanceof InspectorError,
    async read(input) {
      realJournal ??= journalBytes();
      const base = await realJournal;
      const file = join(temporary(), "given.db");
      // The input says where the real file is changed, and by what: two bytes of place, then bytes.
      const changed = Buffer.from(base);
      for (let at = 0; at + 3 <= Math.min(input.length, 300); at += 3)
        changed[input.readUInt16BE(at) % changed.length] = input[at + 2] ?? 0;
      writeFileSync(file, input.length % 5 === 0 ? input : changed);
      try {
        const journal = await openJournal(file, () => {});
        try {
          for (const entry of journal.load(10)) shownOf(entry);
          journal.add(readEntryLine(JSON.parse(REQUEST_LINE)) as Entry);
        } finally {
          journal.close();
        }
      } finally {
        for (const end of ["", "-wal", "-shm", "-journal"]) rmSync(`${file}${end}`, { force: true });
        // libsql keeps a closed file open until its statements are finalised, which takes a turn of the event loop.
        await new Promise(setImmediate);
      }
      return undefined;
    },
  },
  {
    name: "searches",
    examples: ['type:user status:4xx,401 header:a=b "note: x"', "is:pinned code:TOKEN_EXPIRED rest"],
    words: ["type:", "status:", "header:", "is:", "note:", '"', "=", "4xx", "__proto__"],
    most: 1_000,
    refuses: isInspector,
    read(input) {
      const q = text(input);
      const entry = readEntryLine(JSON.parse(REQUEST_LINE)) as Entry;
      matcher(readQuery({ q, status: q, before: q, limit: q }))(entry);
      return undefined;
    },
  },
  {
    name: "orders",
    examples: [
      '{"kind":"edit","bodyBase64":"e30=","eventId":"x","headers":[["a","b"]]}',
      '{"status":503,"times":2,"headers":[["Retry-After","1"]],"body":"x","listenerId":"lst_1"}',
      '{"pinned":true,"note":"x"}',
      '{"listener":"a","reason":"attempts","code":"TIMED_OUT","dryRun":true,"newIds":false}',
      '{"listener":"a","reason":"x"}',
      '{"listenerId":"lst_1"}',
    ],
    refuses: isInspector,
    async read(input) {
      let value: unknown;
      try {
        value = JSON.parse(text(input));
      } catch {
        return undefined;
      }
      for (const read of [
        readReplayOrder,
        readForcedAnswer,
        readMark,
        readTestEvent,
        readRedrive,
        readPause,
        nameOf,
      ])
        try {
          await read(value);
        } catch (error) {
          if (!isInspector(error)) throw error;
        }
      return undefined;
    },
  },
  {
    name: "bodies",
    examples: ['{"display_name":"a","userIds":["b"],"items":[{"a_b":1}]}'],
    words: ["_a", "__", "displayName", "display_name"],
    shownBy: inertJson,
    refuses: isApi,
    read(input) {
      let value: unknown;
      try {
        value = JSON.parse(text(input));
      } catch {
        return undefined;
      }
      halfPairs(value, "");
      if (isDeeper(500, value)) return undefined;
      const item = { type: "object", properties: { aB: { type: "integer" } } } as const;
      const properties = {
        displayName: { type: "string" },
        userIds: { type: "array" },
        items: { type: "array", items: item },
      };
      lenientBody(value, { type: "object", properties } as never);
      return undefined;
    },
  },
  {
    name: "update-masks",
    examples: ["displayName,app_resource_type.trait_ids", "*", "automation.steps"],
    words: [",", "_", "*", "automation."],
    most: 16_384,
    shownBy: inertJson,
    refuses: isApi,
    read(input) {
      const fields = maskedFields(text(input), ["displayName", "steps"], "automation", {});
      holds(fields.size <= 2, "a mask names known fields only");
      return undefined;
    },
  },
  {
    name: "page-tokens",
    examples: ["W10.AAAAAAAAAAAAAAAAAAAAAA", "e30."],
    words: ["."],
    most: 16_384,
    shownBy: inertJson,
    refuses: isApi,
    read(input) {
      const pageToken = text(input);
      if (pageToken === "") return undefined;
      pageTokens("key").page({
        of: ["x"],
        start: [0],
        pageToken,
        pageSize: 1,
        find: () => [],
        position: () => [0],
      } as never);
      holds(false, "a token that nobody gave out is refused");
      return undefined;
    },
  },
  {
    name: "templates",
    examples: ['{"all":"{{ ctx.trigger }}","t":"a {{ "}}" }} b","n":[1,{"x":"{{ r\'\' }}"}]}'],
    words: ["{{", "}}", "r'''", '"""', "'", "\\"],
    refuses: (error) => error instanceof TemplateError,
    read(input) {
      parseTemplates({ text: text(input) });
      let value: unknown;
      try {
        value = JSON.parse(text(input));
      } catch {
        return undefined;
      }
      if (typeof value !== "object" || value === null) return undefined;
      const { expressions: found, fill } = parseTemplates(value as Templates);
      fill(found.map(() => '"x"'));
      return undefined;
    },
  },
  {
    name: "cel",
    examples: [
      "ctx.trigger.n > 1 && size(ctx.trigger.list) < 3",
      "[1,2].map(x, x * 2).exists(y, y == 4)",
      "'a'.matches('^a')",
      "has(ctx.trigger.a) ? 1u : 2.5",
    ],
    words: [
      "ctx.trigger",
      "[",
      "]",
      ".map(x,",
      "size(",
      "matches(",
      "'",
      "r'",
      "?",
      ":",
      "&&",
      "in",
      "timestamp('",
      "duration('",
      "{}",
    ],
    most: 4_096,
    quick: 100,
    refuses: never,
    async read(input) {
      expressions ??= createExpressions();
      const expression = text(input);
      const checked = await expressions.check(expression);
      const evaluation = { automationId: "a", now: 0, context: '{"trigger":{"n":2,"list":[1,2]}}' };
      const found = await expressions.condition(evaluation, expression);
      const values = await expressions.values(evaluation, [expression]);
      if (values.ok) JSON.parse(values.value[0] ?? "");
      return [checked, found, values].map((outcome) => ("message" in outcome ? String(outcome.message) : ""));
    },
  },
];

let realJournal: Promise<Buffer> | undefined;
