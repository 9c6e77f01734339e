import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { previewOf } from "../../service/src/inspector/preview.js";
import { inspected, SECRET } from "./inspected.js";

const bytes = (text: string) => new TextEncoder().encode(text);

describe("what a row shows of its body", () => {
  it.each([
    ['{"type":"user.offboarded","userId":"u_1","n":3}', "user.offboarded", "userId: u_1, n: 3"],
    ['{"type":"a","list":[1,2],"deep":{"b":1},"no":null}', "a", "list: [2], deep: {…}, no: null"],
    ['{"n":12345678901234567890}', undefined, "n: (number)"],
    ['{"type":7}', undefined, "type: 7"],
    ['{"type":"a"}', "a", undefined],
    ["[1,\n 2]", undefined, "[1, 2]"],
    ["no  JSON\u0000", undefined, "no JSON\u0000"],
    ["", undefined, undefined],
  ])("%s", (body, eventType, preview) => {
    expect(previewOf(bytes(body))).toEqual({
      ...(eventType === undefined ? {} : { eventType }),
      ...(preview === undefined ? {} : { preview }),
    });
  });

  it("is short, whatever the body is", () => {
    const long = "x".repeat(5_000);
    const { eventType, preview } = previewOf(bytes(JSON.stringify({ type: long, [long]: long })));
    expect([eventType?.length, preview?.length]).toEqual([160, 160]);
    expect(previewOf(bytes("ä ".repeat(30_000))).preview).toHaveLength(160);
    expect(previewOf(bytes(`{"a":${"[".repeat(5_000)}${"]".repeat(5_000)}}`)).preview).toBe("a: [1]");
  });

  it("has no secret that was sent along", async () => {
    const { post, list } = await inspected();
    await post({ payload: { type: `user.${SECRET}`, secret: SECRET } });
    const [row] = (await list()).rows;
    expect(row?.eventType).toBe(`user.${"*".repeat(SECRET.length)}`);
    expect(JSON.stringify(row)).not.toContain(SECRET);
  });
});

describe("a search", () => {
  it("names fields, next to a text", async () => {
    const { post, list, change } = await inspected();
    const { eventId } = await post({ payload: { type: "user.offboarded", userId: "u_1" } });
    await post({ payload: { type: "user.suspended", userId: "u_1" }, headers: { "X-Tenant": "Acme Ltd" } });
    await post({ payload: { type: "user.suspended" }, headers: { "Webhook-Signature": "wrong" } });
    await change("PUT", "api/requests/2/mark", { pinned: true, note: "the one of Monday" });
    const found = async (q: string) =>
      (await list(`q=${encodeURIComponent(q)}`)).rows.map(({ n }) => n).reverse();
    expect(await found("type:user.suspended")).toEqual([2, 3]);
    expect(await found("TYPE:Suspended u_1")).toEqual([2]);
    expect(await found(`id:${eventId.slice(0, 6).toUpperCase()}`)).toEqual([1]);
    expect(await found("status:4xx")).toEqual([3]);
    expect(await found("status:200,401 type:suspended")).toEqual([2, 3]);
    expect(await found("code:signature_malformed")).toEqual([3]);
    expect(await found("listener:lst_1 method:post")).toEqual([1, 2, 3]);
    expect(await found("listener:lst_2")).toEqual([]);
    expect(await found("header:x-tenant")).toEqual([2]);
    expect(await found('header:"x-tenant=acme ltd"')).toEqual([2]);
    expect(await found("header:x-tenant=other")).toEqual([]);
    expect(await found("is:pinned")).toEqual([2]);
    expect(await found("is:__proto__")).toEqual([]);
    expect(await found("note:monday")).toEqual([2]);
    expect(await found("of monday")).toEqual([2]);
    expect(await found('"type":"user.offboarded"')).toEqual([1]);
  });
});

describe("pins and notes", () => {
  it("are kept with a request, in the history file as well, and go when they are taken back", async () => {
    const folder = await mkdtemp(join(tmpdir(), "hookproof-marks-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const historyFile = join(folder, "history.db");
    const first = await inspected({ historyFile });
    await first.post();
    const note = '<img src=x onerror="alert(1)"> \u202e';
    expect((await first.change("PUT", "api/requests/1/mark", { pinned: true })).status).toBe(204);
    await first.change("PUT", "api/requests/1/mark", { note });
    await first.stop();
    const second = await inspected({ historyFile });
    expect((await second.list()).rows[0]).toMatchObject({ pinned: true, note, preview: "a: 1" });
    await second.change("PUT", "api/requests/1/mark", { pinned: false, note: "" });
    const [row] = (await second.list()).rows;
    expect(row).not.toHaveProperty("pinned");
    expect(row).not.toHaveProperty("note");
  });
});
