import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { describeInBrowser, openPage } from "./support/chromium.js";
import { openStage } from "./support/stage.js";

describeInBrowser("the connection to the server", (browser) => {
  it("is one for nine tabs, and passes on when the tab that holds it closes", async () => {
    const stage = await openStage();
    const first = await openPage(browser(), stage.pageUrl);
    const streams: Page[] = [];
    first.context.on("request", (request) => {
      if (request.url().includes("/api/events")) streams.push(request.frame().page());
    });
    try {
      const others: Page[] = [];
      for (let tab = 1; tab < 9; tab++)
        others.push((await openPage(browser(), stage.pageUrl, { context: first.context })).page);
      await stage.send();
      for (const page of [first.page, ...others]) await page.locator("#row-1").waitFor();
      expect(streams.filter((page) => page !== first.page)).toEqual([]);

      await first.page.close();
      await stage.send();
      for (const page of others) await page.locator("#row-2").waitFor();
      expect(new Set(streams.filter((page) => page !== first.page)).size).toBe(1);
      expect(first.offences).toEqual([]);
    } finally {
      await first.context.close();
      await stage.stop();
    }
  });

  it.each(["in memory", "in a file"])(
    "comes back after a restart of a server with its history %s",
    async (where) => {
      const folder = await mkdtemp(join(tmpdir(), "hookproof-inspector-"));
      const options = where === "in memory" ? {} : { historyFile: join(folder, "history.db") };
      let stage = await openStage(options);
      const { page, context, offences } = await openPage(browser(), stage.pageUrl);
      try {
        await stage.send({ n: "before" });
        await page.locator("#row-1").click();
        await page.getByText("live", { exact: true }).waitFor();

        await stage.stop();
        await page.getByText("server gone, trying again").waitFor();
        expect(await page.locator(".row").count()).toBe(1);

        stage = await openStage({ ...options, inPlaceOf: stage });
        await page.getByText("live", { exact: true }).waitFor();
        await page
          .getByText(where === "in memory" ? "was in memory, and is gone" : "is still here")
          .waitFor();
        await stage.send({ n: "after" });
        const newest = where === "in memory" ? 1 : 2;
        await page.locator(`#row-${newest}`).click();
        await page.locator("article").getByText('"after"').first().waitFor();
        await expect.poll(() => page.locator(".row").count()).toBe(newest);

        await page.keyboard.press("r");
        await page.getByRole("menuitem", { name: "Same id" }).click();
        await page.locator(".summary .badge", { hasText: "409" }).waitFor();
        expect(offences).toEqual([]);
      } finally {
        await context.close();
        await stage.stop();
        await rm(folder, { recursive: true });
      }
    },
  );

  it("is not held by a tab of the run before, whose token is good no more", async () => {
    const before = await openStage();
    const first = await openPage(browser(), before.pageUrl);
    await before.send();
    await first.page.locator("#row-1").waitFor();
    await before.stop();
    const stage = await openStage({ inPlaceOf: before, newToken: true });
    try {
      await first.page.getByText("Open the inspector by the whole address").waitFor();
      const { page } = await openPage(browser(), stage.pageUrl, { context: first.context });
      await stage.send();
      await page.locator("#row-1").waitFor();
      await page.getByText("live", { exact: true }).waitFor();
      expect(await first.page.locator(".row").count()).toBe(0);

      // The new address in the old tab is the same page with another end.
      await first.page.evaluate(`location.assign(${JSON.stringify(stage.pageUrl)})`);
      await first.page.locator("#row-1").waitFor();
      expect(first.page.url()).not.toContain("t=");
      await first.page.close();
      await stage.send();
      await page.locator("#row-2").waitFor();
      expect(first.offences).toEqual([]);
    } finally {
      await first.context.close();
      await stage.stop();
    }
  });
});
