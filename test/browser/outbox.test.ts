import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openSqlite } from "hookproof/node";
import { sqliteStore } from "hookproof/outbox/sqlite";
import { afterAll, beforeAll, expect, it } from "vitest";
import { shownOutbox } from "../kit/shown-outbox.js";
import { describeInBrowser, openPage } from "./support/chromium.js";
import { violations } from "./support/violations.js";

describeInBrowser("the page of an outbox", (browser) => {
  let stage: Awaited<ReturnType<typeof shownOutbox>>;
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "hookproof-outbox-page-"));
    const store = sqliteStore({ open: () => openSqlite(join(folder, "app.db"), { from: import.meta.url }) });
    stage = await shownOutbox(store, { allow: ["redrive", "pause"] });
    await store.alive({ id: "w1", name: `web <b>1</b>`, runsForMs: 60_000 });
  });
  afterAll(async () => {
    await stage.stop();
    await rm(folder, { recursive: true });
  });

  it("shows each listener, what failed and why, and nothing of it acts", async () => {
    const { page, context, offences } = await openPage(browser(), stage.page.pageUrl);
    const card = (name: string) => page.getByRole("region", { name: `Listener ${name}` });
    await expect.poll(() => card("well").textContent()).toMatch(/^wellno trouble.*delivered3per minute/);
    await expect.poll(() => card("refusing").textContent()).toContain("The body is not valid JSON.");
    await expect
      .poll(() => card("down").textContent())
      .toContain('it answered {"code":"RECEIVER_DOWN","message":"<img src=x onerror=\\"alert(1)\\">');
    expect(new URL(page.url()).hash).toBe("");
    const alerts = page.getByRole("region", { name: "Alerts that would fire" });
    expect(await alerts.textContent()).toContain("dead-letters refusing events were given up");

    const workers = page.getByRole("region", { name: "Workers" });
    expect(await workers.textContent()).toMatch(/last seen \d+ s ago web <b>1<\/b> since \d/);

    // A name of two lines stands below its number too: the numbers are in one line.
    const tops = `[...document.querySelectorAll(".counts")].map((one) =>
      new Set([...one.querySelectorAll("dd")].map((dd) => dd.getBoundingClientRect().top)).size)`;
    expect(await page.evaluate<number[]>(tops)).toEqual([1, 1, 1]);

    expect(await card("down").textContent()).toMatch(/next attempt (?:at \d\d:\d\d:\d\d, in|now|due since)/);
    await card("down").getByText("What waits").click();
    const field = card("down").getByLabel("Search what waits for down");
    await field.fill("no such id");
    await card("down").getByText("Nothing matches.").waitFor();
    await field.fill("503 receiver_unavailable");
    await expect
      .poll(() => card("down").locator(".waiting").textContent())
      .toMatch(/^(?:[0-9a-f]{8} \(event\) due [\d:]+, 1 attempt, last 503 RECEIVER_UNAVAILABLE){3}$/);
    await field.fill("");
    await card("down").locator(".waiting button").first().click();
    const dialog = page.locator("dialog");
    await expect.poll(() => dialog.locator(".timeline").textContent()).toMatch(/enqueued.*attempt 1.*503/);
    expect(await violations(page, "dialog")).toEqual([]);
    const link = page.url();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    await page.goto(link);
    await page.reload();
    await dialog.locator(".timeline").waitFor();
    expect(await page.locator("body :is(script, iframe, img:not([src='./icon.svg']))").count()).toBe(0);
    expect(offences).toEqual([]);
    await context.close();
  });

  it("counts what a redrive would do, then does it; pauses and resumes", async () => {
    const { page, context, offences } = await openPage(browser(), stage.page.pageUrl);
    const dead = page.getByRole("region", { name: /^3 dead letters of refusing/ });
    await dead.getByRole("button", { name: "How many would come back?" }).click();
    await dead.getByText("3 would be delivered again.").waitFor();
    await dead.getByRole("button", { name: "Deliver 3 again" }).click();
    await page.getByText("3 are delivered again").waitFor();
    await dead.waitFor({ state: "detached" });
    await stage.outbox.drain();

    const well = page.getByRole("region", { name: "Listener well" });
    await well.getByRole("button", { name: "Pause" }).click();
    await page.getByLabel("Why").fill("moving");
    await page.keyboard.press("Enter");
    await well.getByText("moving").waitFor();
    await well.getByRole("button", { name: "Resume" }).click();
    await well.getByText("moving").waitFor({ state: "detached" });
    expect(offences).toEqual([]);
    await context.close();
  });

  it("does not show what it had read before a change, however late the answer comes", async () => {
    const { page, context, offences } = await openPage(browser(), stage.page.pageUrl);
    const well = page.getByRole("region", { name: "Listener well" });
    await well.waitFor();
    let asked = 0;
    let answerFirst: (() => Promise<void>) | undefined;
    await page.route("**/api/overview", async (route) => {
      asked++;
      // The second comes after the change; nothing later mends what the first would do.
      if (asked === 2) await route.continue();
      if (asked > 1) return;
      const response = await route.fetch();
      answerFirst = () => route.fulfill({ response });
    });
    await expect.poll(() => answerFirst).toBeDefined();
    await well.getByRole("button", { name: "Pause" }).click();
    await page.getByLabel("Why").fill("moving");
    await page.keyboard.press("Enter");
    await well.getByText("moving").waitFor();

    await answerFirst?.();
    await page.evaluate("new Promise((drawn) => setTimeout(() => requestAnimationFrame(drawn), 200))");
    expect(await well.textContent()).toContain("moving");
    await stage.outbox.resume("well");
    expect(offences).toEqual([]);
    await context.close();
  });

  it("says that more may wait where it lists as many as it can", async () => {
    const { page, context, offences } = await openPage(browser(), stage.page.pageUrl);
    await page.route("**/api/waiting?*", async (route) => {
      const response = await route.fetch();
      const [first] = (await response.json()) as object[];
      await route.fulfill({
        response,
        json: Array.from({ length: 50 }, (_, n) => ({ ...first, id: `${n}` })),
      });
    });
    const down = page.getByRole("region", { name: "Listener down" });
    await down.getByText("What waits").click();
    await down.getByText("These are the first 50; any other is found above by its whole id.").waitFor();
    expect(await down.locator(".waiting li").count()).toBe(50);
    expect(offences).toEqual([]);
    await context.close();
  });

  it("says how to open it where the token is missing", async () => {
    const { page, context } = await openPage(browser(), stage.page.url);
    await page.getByText("Open the page by the whole address that was printed").waitFor();
    await context.close();
  });

  it.each([
    ["light", false],
    ["dark", true],
  ])("axe finds nothing from 320 to 2,560 px, %s", async (_scheme, dark) => {
    const { page, context } = await openPage(browser(), stage.page.pageUrl, { dark });
    await page.locator(".dead").waitFor();
    for (const width of [320, 375, 768, 1280, 2560]) {
      await page.setViewportSize({ width, height: 900 });
      expect(await violations(page)).toEqual([]);
      expect(await page.evaluate("document.body.scrollWidth - innerWidth")).toBeLessThanOrEqual(0);
    }
    await context.close();
  });
});
