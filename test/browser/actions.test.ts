import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, describe, expect, it, vi } from "vitest";
import { describeOnStage } from "./support/on-stage.js";
import { SECRET, withDecodedSecret } from "./support/stage.js";

const ROOT = join(import.meta.dirname, "../..");
const run = promisify(execFile);

describeOnStage("what can be done with a request", (on) => {
  afterEach(() => vi.useRealTimers());

  /** Opens the newest request. */
  async function openNewest(): Promise<number> {
    const n = on.stage.inspector.list({ limit: 1 }).rows[0]?.n ?? 0;
    await on.open.page.locator(`#row-${n}`).click();
    await on.open.page.locator(".summary", { hasText: `#${n} ` }).waitFor();
    return n;
  }
  async function choose(key: "r" | "c", item: string): Promise<string> {
    await on.open.page.keyboard.press(key);
    const entry = on.open.page.getByRole("menuitem", { name: item });
    const note = (await entry.locator("small").textContent()) ?? "";
    await entry.click();
    return note;
  }
  async function copied(item: string): Promise<{ text: string; note: string }> {
    await on.open.page.evaluate("navigator.clipboard.writeText('')");
    const note = await choose("c", item);
    let text = "";
    await expect
      .poll(async () => {
        text = await on.open.page.evaluate<string>("navigator.clipboard.readText()");
        return text;
      })
      .not.toBe("");
    await on.open.page.getByText("Copied: ").waitFor();
    return { text, note };
  }
  async function replayed(item: string): Promise<{ note: string; status: number }> {
    const before = on.stage.inspector.list({ limit: 1 }).rows[0]?.n ?? 0;
    const note = await choose("r", item);
    await on.open.page.locator(".summary", { hasText: `#${before + 1} ` }).waitFor();
    return { note, status: Number(await on.open.page.locator(".summary .badge").textContent()) };
  }

  describe("the copied curl, run in bash, gets the status it promises", () => {
    const bodies = [
      JSON.stringify({ quote: 'it\'s "here" $HOME `id` \\ !', lines: "a\nb" }),
      '{\n  "a": 1,\n\t"é": "\u{1f600}\u202e"\r\n}',
    ];
    it.each(bodies)("of an accepted request: %j", async (body) => {
      expect(await on.stage.send(body)).toBe(200);
      await openNewest();
      const { text, note } = await copied("As curl");
      expect(note).toBe("to the letter: 409");
      expect((await run("bash", ["-c", text])).stdout).toMatch(/^HTTP\/1\.1 409 /);
    });

    it("of refused ones", async () => {
      await on.stage.send(undefined, withDecodedSecret);
      await openNewest();
      const mismatch = await copied("As curl");
      expect(mismatch.note).toBe("to the letter: 401");
      expect((await run("bash", ["-c", mismatch.text])).stdout).toMatch(/^HTTP\/1\.1 401 /);

      await on.stage.send(undefined, () => ({
        body: new Uint8Array([0xff, 0x00, 0x27]),
        headers: { "X-Empty": "" },
      }));
      await openNewest();
      const malformed = await copied("As curl");
      expect(malformed.note).toBe("to the letter: 400");
      expect((await run("bash", ["-c", malformed.text])).stdout).toMatch(/^HTTP\/1\.1 400 /);
      // It arrived as the one before: the same lines and bytes.
      const [again, first] = await Promise.all(
        on.stage.inspector.list({ limit: 2 }).rows.map(({ n }) => on.stage.inspector.detail(n)),
      );
      expect(again?.bodyBase64).toBe(first?.bodyBase64);
      const own = (headers: NonNullable<typeof again>["headers"]) =>
        headers.filter(([name]) => !/^(host|connection|content-length)$/i.test(name));
      expect(own(again?.headers ?? [])).toEqual(own(first?.headers ?? []));
    });
  });

  it("the copied command sends the same event again", async () => {
    await on.stage.send({ text: "it's" });
    await openNewest();
    const { text } = await copied("As hookproof command");
    const { stdout } = await run(
      "bash",
      ["-c", `hookproof() { node cli/bin/hookproof.cjs "$@"; }\n${text} --json`],
      {
        cwd: ROOT,
        env: { ...process.env, HOOKPROOF_SECRET: SECRET },
      },
    );
    expect(JSON.parse(stdout)).toMatchObject({ ok: true, status: 409 });
  });

  it("the copied test passes, and fails with another secret", async () => {
    await on.stage.send();
    await openNewest();
    const { text } = await copied("As test");
    const folder = await mkdtemp(join(ROOT, "node_modules/.copied-test-"));
    const file = join(folder, "copied.test.mjs");
    await writeFile(file, text);
    const test = (secret: string) => {
      const { NODE_OPTIONS: _, NODE_TEST_CONTEXT: __, ...env } = process.env;
      return run("node", ["--test", file], { env: { ...env, HOOKPROOF_SECRET: secret } });
    };
    try {
      expect((await test(SECRET)).stdout).toMatch(/pass 1/);
      await expect(test("another-secret")).rejects.toThrow();
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it("the replay menu: the same id gets 409, a new one 200", async () => {
    await on.stage.send();
    await openNewest();
    expect(await replayed("Same id")).toEqual({ note: "409: the id is used up", status: 409 });
    const { note, status } = await replayed("New id");
    expect([note, status]).toEqual(["200: the automation runs again", 200]);
    const exact = await replayed("Exact");
    expect(exact.status).toBe(409);
    expect(exact.note).toMatch(/^409 for [45]:\d\d more, then 400$/);
  });

  it("and the exact copy of a request that has gone stale 400", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() - 301_000 });
    expect(await on.stage.send()).toBe(200);
    vi.useRealTimers();
    await openNewest();
    expect(await replayed("Exact")).toEqual({ note: "400: the timestamp is stale", status: 400 });
  });

  it("edit and send", async () => {
    const { page } = on.open;
    await on.stage.send({ userId: "before" });
    await openNewest();
    await choose("r", "Edit and send");
    await page.getByLabel("Body").last().fill('{"userId":"after"}');
    await page.getByRole("button", { name: "New event id" }).click();
    await page.getByRole("button", { name: "Send", exact: true }).click();
    await page.getByText("Replay (edit)").waitFor();
    await page.locator(".summary .badge", { hasText: "200" }).waitFor();
    await page.locator("article").getByText('"after"').first().waitFor();
  });

  it("forced answers: the next two are 503, then it is as before", async () => {
    const { page } = on.open;
    await page.getByRole("button", { name: "Force answers" }).click();
    await page.getByLabel("How many answers").fill("2");
    await page.getByRole("button", { name: "Force", exact: true }).click();
    await page.getByText("next 2 answers: 503").waitFor();
    expect([await on.stage.send(), await on.stage.send(), await on.stage.send()]).toEqual([503, 503, 200]);
    await page.getByText("next 2 answers: 503").waitFor({ state: "detached" });
    await expect.poll(() => page.locator(".row", { hasText: "forced (200)" }).count()).toBe(2);
  });

  it("export, clear, import: the requests are back", async () => {
    const { page } = on.open;
    const before = on.stage.inspector.list().total;
    const file = async (item: string) => {
      await page.getByRole("button", { name: "File" }).click();
      await page.getByRole("menuitem", { name: item }).click();
    };
    await file("Export");
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Export" }).click(),
    ]);
    const path = await download.path();
    expect((await readFile(path, "utf8")).trim().split("\n")).toHaveLength(before);
    await file("Clear");
    await page.getByRole("button", { name: "Keep them" }).click();
    expect(on.stage.inspector.list().total).toBe(before);
    await file("Clear");
    await page.getByRole("button", { name: "Clear", exact: true }).click();
    await page.locator(".empty").waitFor();
    await page.getByLabel("File to import").setInputFiles(path);
    await page.getByText(`${before} imported`).waitFor();
    await page.locator(".row", { hasText: "imported" }).first().waitFor();
    expect(on.stage.inspector.list().total).toBe(before);
  });

  it("none of that left the machine or broke anything", () => {
    expect(on.open.offences).toEqual([]);
  });
});
