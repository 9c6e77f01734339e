import { mkdtemp, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import LibSql from "libsql";
import { describe, expect, it, onTestFinished } from "vitest";
import { createHistory } from "../../service/src/inspector/history.js";
import type { Draft } from "../../service/src/inspector/record-request.js";
import { itWith, POSIX } from "../kit/needs.js";
import { inspected, SECRET } from "./inspected.js";

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "hookproof-inspector-"));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  return path;
}

describe("a history file", () => {
  it("survives a restart: requests, mistakes, signatures, numbers", async () => {
    const historyFile = join(await folder(), "history.db");
    const before = await inspected({ historyFile });
    const { eventId } = await before.post();
    await before.post({ eventId });
    await before.post({ body: '{"a":2}' });
    const shown = await Promise.all([1, 2, 3].map((n) => before.detail(n)));
    await before.stop();

    const otherSecret = `${SECRET.slice(0, -1)}9`;
    const after = await inspected({
      historyFile,
      listeners: (baseUrl) => [
        { listener: { id: "lst_1", baseUrl, auth: { method: "hmac", secret: otherSecret } } },
      ],
    });
    const again = await Promise.all([1, 2, 3].map((n) => after.detail(n)));
    // Another port is all that changed: what was expected then is not worked out with the secret of now.
    const { port } = after.server;
    expect(
      again.map((one) => ({ ...one, url: one.url.replace(`:${port}/`, `:${before.server.port}/`) })),
    ).toEqual(shown.map((one) => ({ ...one, restored: true })));
    expect(after.inspector.session().historyFile).toBe(historyFile);
    await after.post();
    expect((await after.list()).rows.map(({ n }) => n)).toEqual([4, 3, 2, 1]);
    expect(await after.detail(4)).not.toHaveProperty("restored");
    await after.change("DELETE", "api/requests");
    await after.stop();

    const last = await inspected({ historyFile });
    await last.post();
    expect((await last.list()).rows.map(({ n }) => n)).toEqual([5]);
  });

  it("is readable by its owner only, and holds no secret", async () => {
    const path = await folder();
    const historyFile = join(path, "history.db");
    const { post, stop } = await inspected({ historyFile });
    await post({ payload: { secret: SECRET } });
    for (const name of ["history.db", "history.db-wal", "history.db-shm"])
      expect([name, (await stat(join(path, name))).mode & 0o777]).toEqual([name, 0o600]);
    await stop();
    const rows = new LibSql(historyFile).prepare("SELECT entry FROM requests").all() as { entry: string }[];
    expect(rows).toHaveLength(1);
    const entry = rows[0]?.entry ?? "";
    expect(entry + Buffer.from(JSON.parse(entry).bodyBase64, "base64")).not.toContain(SECRET);
  });

  it("keeps its bound", async () => {
    const historyFile = join(await folder(), "history.db");
    const { post, stop } = await inspected({ historyFile, maxRequests: 3 });
    for (let n = 1; n <= 5; n++) await post();
    await stop();
    const rows = new LibSql(historyFile).prepare("SELECT n FROM requests ORDER BY n").all() as {
      n: number;
    }[];
    expect(rows.map(({ n }) => n)).toEqual([3, 4, 5]);
  });

  it("can be shared: two processes never give a number twice", async () => {
    const historyFile = join(await folder(), "history.db");
    const [one, two] = [await inspected({ historyFile }), await inspected({ historyFile })];
    for (let turn = 0; turn < 3; turn++) for (const each of [one, two]) await each.post();
    const numbers = [...(await one.list()).rows, ...(await two.list()).rows].map(({ n }) => n);
    expect(numbers.sort()).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it("that breaks is said once, and requests are kept in memory", async () => {
    const historyFile = join(await folder(), "history.db");
    const problems: string[] = [];
    const { post, list } = await inspected({ historyFile, onProblem: (message) => problems.push(message) });
    await post();
    new LibSql(historyFile).exec("DROP TABLE requests");
    for (let n = 0; n < 3; n++) expect((await post()).status).toBe(200);
    expect((await list()).rows.map(({ n }) => n)).toEqual([4, 3, 2, 1]);
    expect(problems).toEqual([expect.stringContaining("cannot be written")]);
  });

  it("is refused where it holds a view, which could be one without an end", async () => {
    const historyFile = join(await folder(), "history.db");
    await (await inspected({ historyFile })).stop();
    new LibSql(historyFile).exec(`DROP TABLE requests; CREATE VIEW requests AS
      WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT n, '{}' AS entry FROM c`);
    await expect(inspected({ historyFile })).rejects.toMatchObject({ code: "HISTORY_INVALID" });
  });

  itWith(...POSIX).each(["-wal", "-shm", "-journal"])(
    "is refused where a link lies next to it, whose end stays as it is: %s",
    async (ending) => {
      const path = await folder();
      const historyFile = join(path, "history.db");
      await (await inspected({ historyFile })).stop();
      await writeFile(join(path, "victim"), "mine, and to be kept", { mode: 0o600 });
      await rm(historyFile + ending, { force: true });
      await symlink(join(path, "victim"), historyFile + ending);
      await expect(inspected({ historyFile })).rejects.toMatchObject({ code: "FILE_IS_LINK" });
      expect(await readFile(join(path, "victim"), "utf8")).toBe("mine, and to be kept");
    },
  );

  it("is refused where it is something else", async () => {
    const path = await folder();
    const lines = join(path, "requests.jsonl");
    await writeFile(lines, '{"v":1,"type":"request"}\n'.repeat(100));
    const foreign = join(path, "foreign.db");
    new LibSql(foreign).exec("CREATE TABLE mine (a)");
    const newer = join(path, "newer.db");
    await (await inspected({ historyFile: newer })).stop();
    new LibSql(newer).exec("PRAGMA user_version = 2");
    for (const [historyFile, code] of [
      [lines, "HISTORY_INVALID"],
      [foreign, "HISTORY_INVALID"],
      [newer, "HISTORY_NEWER"],
      [join(path, "no/such/folder/history.db"), "HISTORY_UNREADABLE"],
      [path, "HISTORY_UNREADABLE"],
    ] as const)
      await expect(inspected({ historyFile })).rejects.toMatchObject({ name: "InspectorError", code });
  });
});

describe("the bounds of a history", () => {
  const draft = (eventId: string, body: number): Draft => ({
    row: {
      at: 0,
      listenerId: "lst_1",
      method: "POST",
      status: 200,
      eventId,
      bodyBytes: body,
      durationMs: 0,
      reason: "accepted",
    },
    target: "/",
    headers: [],
    body: Buffer.alloc(body),
    checks: [],
    answer: { headers: [], body: "" },
  });

  it("are requests and bytes; what gives way is not found any more", () => {
    const history = createHistory({ maxRequests: 10, maxBytes: 20_000 });
    for (let n = 1; n <= 30; n++) history.add(draft(`id-${n}`, 0));
    expect([history.size, history.droppedUpTo]).toEqual([10, 20]);
    expect(history.firstOf("lst_1", "id-20")).toBeUndefined();
    expect(history.firstOf("lst_1", "ID-30")?.row.n).toBe(30);
    for (let n = 0; n < 3; n++) history.add(draft("large", 9_000));
    expect([history.size, history.droppedUpTo]).toEqual([1, 32]);
    // One request is always kept, however large.
    history.add(draft("huge", 50_000));
    expect([history.size, history.get(34)?.row.eventId]).toEqual([1, "huge"]);
  });

  it("find no request of a file as the first delivery of a real event", () => {
    const history = createHistory();
    const theirs = draft("id-1", 0);
    history.add({ ...theirs, row: { ...theirs.row, imported: true } });
    expect(history.firstOf("lst_1", "id-1")).toBeUndefined();
    expect(history.firstOf("lst_1", "ID-1", true)?.row.n).toBe(1);
    history.add(theirs);
    expect(history.firstOf("lst_1", "id-1")?.row.n).toBe(2);
  });
});

describe("a search", () => {
  it("looks into ids, codes, reasons, headers, paths and bodies, without case, page by page", async () => {
    const { post, list, server } = await inspected();
    const { eventId } = await post({ payload: { name: "Grüße" }, headers: { "X-Team": "Payroll" } });
    await post({ body: '{"a":2}' });
    await fetch(`${server.url}/wrong/path`);
    const found = async (query: string) => (await list(query)).rows.map(({ n }) => n);
    expect(await found(`q=${eventId.toUpperCase()}`)).toEqual([1]);
    expect(await found("q=x-team:%20payroll")).toEqual([1]);
    expect(await found(`q=${encodeURIComponent("grüße")}`)).toEqual([1]);
    expect(await found("q=signature_mismatch")).toEqual([2]);
    expect(await found("q=wrong/PATH")).toEqual([3]);
    expect(await found("status=200,4xx&listener=lst_1")).toEqual([2, 1]);
    expect(await found(`event=${eventId}`)).toEqual([1]);
    expect(await found("q=nowhere")).toEqual([]);
    const first = await list("limit=2");
    expect(first).toMatchObject({ total: 3, found: 3, next: 2 });
    const second = await list(`limit=2&before=${first.next}`);
    expect(second.rows.map(({ n }) => n)).toEqual([1]);
    expect(second.next).toBeUndefined();
  });
});
