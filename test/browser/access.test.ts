import { hmacSigner } from "hookproof";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { describeInBrowser, openPage, rowsWith } from "./support/chromium.js";
import { cutTexts } from "./support/cut-texts.js";
import { openStage, SECRET, type Stage, withDecodedSecret } from "./support/stage.js";
import { violations } from "./support/violations.js";

describeInBrowser("everybody can use the page", (browser) => {
  let stage: Stage;

  beforeAll(async () => {
    stage = await openStage();
  });
  afterAll(() => stage.stop());

  it("before anything has been received", async () => {
    const { page, context } = await openPage(browser(), stage.pageUrl);
    await page.locator(".empty").waitFor();
    expect(await violations(page)).toEqual([]);
    await context.close();
  });

  it("every verdict, with menus and dialogs", async () => {
    await sendEveryKind(stage);
    const { page, context, offences } = await openPage(browser(), stage.pageUrl);
    for (const { n } of stage.inspector.list().rows) {
      await page.goto(`${stage.pageUrl}&n=${n}`);
      await page.locator(".summary", { hasText: `#${n} ` }).waitFor();
      expect(await violations(page, "article")).toEqual([]);
    }
    await page.keyboard.press("r");
    await page.locator("[role=menu]").waitFor();
    expect(await violations(page)).toEqual([]);
    await page.getByRole("menuitem", { name: "Edit and send" }).click();
    await page.locator("dialog").waitFor();
    expect(await violations(page, "dialog")).toEqual([]);
    await page.keyboard.press("Escape");
    await page.locator("dialog").waitFor({ state: "detached" });
    await page.keyboard.press("?");
    await page.getByRole("heading", { name: "Keys" }).waitFor();
    expect(await violations(page, "dialog")).toEqual([]);
    expect(offences).toEqual([]);
    await context.close();
  });

  it.each([
    ["in the dark", { dark: true }],
    ["on a narrow screen", { wide: false }],
  ])("and %s", async (_where, look) => {
    const { page, context } = await openPage(browser(), stage.pageUrl, look);
    for (const status of ["401", "409"]) {
      const row = rowsWith(page, status).first();
      await row.waitFor();
      if (!("dark" in look)) expect(await violations(page)).toEqual([]);
      await row.click();
      await page.locator(".summary .badge", { hasText: status }).waitFor();
      expect(await violations(page)).toEqual([]);
      const [needed = 0, there] = await page.evaluate<number[]>("[document.body.scrollWidth, innerWidth]");
      expect(needed).toBeLessThanOrEqual(there ?? 0);
      if (!("dark" in look)) await page.getByRole("button", { name: "Requests" }).click();
    }
    await context.close();
  });

  it.each([
    ["light", false],
    ["dark", true],
  ])("at every width from 320 to 2,560 px, %s", async (_scheme, dark) => {
    const { page, context } = await openPage(browser(), stage.pageUrl, { dark });
    await page.locator("article").waitFor();
    for (const width of [320, 768, 1024, 1280, 1920, 2560]) {
      await page.setViewportSize({ width, height: 900 });
      expect(await violations(page)).toEqual([]);
      expect(await page.evaluate("document.body.scrollWidth - innerWidth")).toBeLessThanOrEqual(0);
      if (width >= 1280) expect(await cutTexts(page), `at ${width} px`).toEqual([]);
    }
    await context.close();
  });

  it("a row says how long its request took, also where much is to be said of it", async () => {
    const own = await openStage();
    onTestFinished(() => own.stop());
    await own.send();
    const { page, context } = await openPage(browser(), own.pageUrl);
    await page.locator("article").waitFor();
    await page.keyboard.press("r");
    await page.keyboard.press("Home");
    await page.keyboard.press("Enter");
    await page.locator(".row .origin", { hasText: "same-id of" }).waitFor();
    await page.getByRole("button", { name: "Add a note" }).click();
    await page.keyboard.type("asked by the team of the payroll, who wait for it");
    await page.keyboard.press("Enter");
    await page.locator(".row .own").waitFor();
    const cut = await page.evaluate<string[]>(`[...document.querySelectorAll(".row .facts > span")]
      .filter((one) => / ms$/.test(one.textContent))
      .filter((one) => one.scrollWidth > one.clientWidth + 1 ||
        one.getBoundingClientRect().right > one.parentElement.getBoundingClientRect().right)
      .map((one) => one.parentElement.textContent)`);
    expect(cut).toEqual([]);
    await context.close();
  });

  it("with the keyboard alone: find, open, copy, replay, ask for help", async () => {
    const { page, context, offences } = await openPage(browser(), stage.pageUrl);
    const opened = async () =>
      Number((await page.locator(".summary .note").textContent())?.match(/\d+/)?.[0]);
    const press = (key: string) => page.keyboard.press(key);
    await page.locator("article").waitFor();
    const newest = await opened();
    await press("j");
    await page.locator(".summary", { hasText: `#${newest - 1} ` }).waitFor();
    await press("k");
    await page.locator(".summary", { hasText: `#${newest} ` }).waitFor();

    await press("/");
    await page.keyboard.type("decoded first");
    await rowsWith(page, "200").first().waitFor({ state: "detached" });
    await press("Tab");
    while ((await page.evaluate<string>("document.activeElement.className")) !== "list") await press("Tab");
    await press("ArrowDown");
    await page.locator(".mistakes").waitFor();
    const found = await opened();

    await press("c");
    await press("ArrowDown");
    await press("ArrowDown");
    await press("Enter");
    await page.getByText("Copied: test").waitFor();
    expect(await page.evaluate("document.activeElement.textContent")).toBe("Copy");

    await press("r");
    await press("Home");
    await press("Enter");
    await page.getByText(`Replay (same-id) of #${found}: 200`).waitFor();

    await press("?");
    await page.getByRole("heading", { name: "Keys" }).waitFor();
    await press("Escape");
    await page.locator("dialog").waitFor({ state: "detached" });
    expect(offences).toEqual([]);
    await context.close();
  });

  it("on a narrow screen list and request take turns", async () => {
    const { page, context } = await openPage(browser(), stage.pageUrl, { wide: false });
    await page.locator(".row").first().click();
    await page.locator("article").waitFor();
    await expect.poll(() => page.locator(".list").isVisible()).toBe(false);
    await page.getByRole("button", { name: "Requests" }).click();
    await page.locator(".list").waitFor();
    await expect.poll(() => page.locator("article").count()).toBe(0);
    await context.close();
  });
});

/** A request of every kind there is; the last one is a duplicate. */
async function sendEveryKind(stage: Stage): Promise<void> {
  const signer = hmacSigner({ secret: SECRET });
  const eventId = "0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10";
  await stage.sendTo(stage.url, signer, { eventId });
  await stage.send("[1,  2]", withDecodedSecret);
  await stage.sendTo(stage.strictUrl, signer);
  await stage.send(undefined, () => ({ headers: {} }));
  await stage.sendTo(stage.tokensUrl, stage.tokenSigner);
  stage.inspector.force({ listenerId: "lst_local", status: 503 });
  await stage.send();
  await stage.sendTo(stage.url, signer, { eventId, payload: [1] });
}
