import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { describeInBrowser, openPage } from "../browser/support/chromium.js";
import { violations } from "../browser/support/violations.js";
import { fencedBlocks, ROOT } from "../kit/markdown.js";
import { itWith, LONG } from "../kit/needs.js";
import { type BuiltSite, describeSite, openSite } from "./built-site.js";

const SCRIPT_LIMIT_BYTES = 100 * 1024;
/** Colours are asked of every letter of every page; a busy machine takes minutes. */
const ALL_PAGES_MS = 900_000;

describeSite("the site", () => {
  describeInBrowser("in a browser", (browser) => {
    let site: BuiltSite;
    beforeAll(async () => {
      site = await openSite();
    });
    afterAll(() => site?.close());

    /** Looks at every page in a window of this width, two pages at once. */
    async function lookAtAll(width: number, dark: boolean): Promise<void> {
      // The pages of commands, languages and codes are made alike: one in ten of them is enough.
      const isPart = (address: string) => /^(?:cli|errors|snippets)\/./.test(address);
      const all = [...site.pages.keys()];
      const parts = all.filter(isPart).filter((_, index) => index % 10 === 0);
      const addresses = [...all.filter((address) => !isPart(address)), ...parts];
      const look = async () => {
        const { page, context, offences } = await openPage(browser(), site.url, { dark });
        await page.setViewportSize({ width, height: 900 });
        for (let address = addresses.pop(); address !== undefined; address = addresses.pop()) {
          await page.goto(site.url + address);
          await page.addScriptTag({ url: site.axeUrl });
          expect(await violations(page), address).toEqual([]);
          const needed = await page.evaluate<number>("document.documentElement.scrollWidth");
          expect(needed, `${address} is wider than the window`).toBeLessThanOrEqual(width);
        }
        expect(offences).toEqual([]);
        await context.close();
      };
      await Promise.all([look(), look()]);
    }

    it.each([
      [320, "light"],
      [2560, "dark"],
    ] as const)(
      "axe finds nothing on any kind of page, and none is too wide: %i px, %s",
      (width, scheme) => lookAtAll(width, scheme === "dark"),
      ALL_PAGES_MS,
    );

    itWith(...LONG)("the other way round as well, and between", { timeout: ALL_PAGES_MS }, async () => {
      await lookAtAll(320, true);
      await lookAtAll(2560, false);
      await lookAtAll(768, false);
    });

    it("a page of text has at most 100 KB of script, counted unpacked", async () => {
      const { page, context } = await openPage(browser(), site.url);
      await page.goto(`${site.url}guides/outbox/`, { waitUntil: "networkidle" });
      const bytes = await page.evaluate<number>(`[
        ...[...document.scripts].map(({ text }) => new TextEncoder().encode(text).length),
        ...performance.getEntriesByType("resource").filter(({ name }) => /\\.js$/.test(name)).map((one) => one.decodedBodySize),
      ].reduce((sum, one) => sum + one, 0)`);
      expect(bytes).toBeGreaterThan(5_000);
      expect(bytes).toBeLessThan(SCRIPT_LIMIT_BYTES);
      console.info(`script on a page of text: ${(bytes / 1024).toFixed(1)} KB`);
      await context.close();
    });

    it("the menu shows where one is, and no button lies on code", async () => {
      const { page, context } = await openPage(browser(), `${site.url}guides/local-service/`);
      await page.setViewportSize({ width: 1280, height: 800 });
      await page.goto(`${site.url}guides/local-service/`);
      const place =
        "document.querySelector('#starlight__sidebar a[aria-current=page]').getBoundingClientRect().top";
      await expect.poll(() => page.evaluate<number>(place)).toBeLessThan(700);
      expect(await page.evaluate<number>(place)).toBeGreaterThan(0);
      // Text and not its box counts, as far as it is seen: a line may end before the button, and be longer than its box.
      const covered = `[...document.querySelectorAll("figure")].flatMap((figure) => {
        const button = figure.querySelector(".copy button")?.getBoundingClientRect();
        const end = figure.querySelector(".scroll")?.getBoundingClientRect().right;
        return [...figure.querySelectorAll("pre .ec-line .code")].filter((line) => {
          const range = document.createRange();
          range.selectNodeContents(line);
          return button && [...range.getClientRects()].some(({ left, right, top, bottom }) =>
            left < button.right && Math.min(right, end) > button.left && top < button.bottom - 1 && bottom > button.top + 1);
        });
      }).length`;
      for (const width of [1280, 390]) {
        await page.setViewportSize({ width, height: 800 });
        expect(
          await page.evaluate<number>('document.querySelectorAll(".copy button").length'),
        ).toBeGreaterThan(3);
        expect(await page.evaluate<number>(covered), `${width} px`).toBe(0);
      }
      await context.close();
    });

    it("the search finds an error code by keyboard, and leads to its page", async () => {
      const { page, context, offences } = await openPage(browser(), `${site.url}guides/outbox/`);
      await page.keyboard.press("/");
      await page.keyboard.type("SIGNATURE_MISMATCH");
      const first = page.locator("#search a", { hasText: /^SIGNATURE_MISMATCH/ });
      await first.waitFor();
      expect(await violations(page, "#search")).toEqual([]);
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("Enter");
      await page.waitForURL(/\/errors\/signature_mismatch\//);
      expect(offences).toEqual([]);
      await context.close();
    });

    it("a box that begins to scroll when its content grows is reached by the keyboard", async () => {
      const { page, context } = await openPage(browser(), `${site.url}guides/quick-start/`);
      const box = page.locator(".scroll:not([tabindex])").first();
      await box.evaluate((element) => {
        element.id = "grown";
        const content = element.firstElementChild as unknown as { style: { minWidth: string } };
        content.style.minWidth = "300%";
      });
      await expect.poll(() => page.locator("#grown").getAttribute("tabindex")).toBe("0");
      await context.close();
    });

    it("a transcript's copy button gives its commands", async () => {
      const { page, context } = await openPage(browser(), `${site.url}guides/quick-start/`);
      const [block] = fencedBlocks(join(ROOT, "docs/guides/quick-start.md")).filter(
        ({ language }) => language === "console",
      );
      const figure = page.locator("figure", { has: page.locator("pre[data-language=console]") }).first();
      await figure.hover();
      await figure.getByRole("button", { name: "Copy to clipboard" }).click();
      await expect
        .poll(() => page.evaluate<string>("navigator.clipboard.readText()"))
        .toBe(block?.text.split("\n")[0]?.slice(2));
      await context.close();
    });

    it("what to install is shown by one package manager, and what was chosen stays on the next page", async () => {
      const { page, context, offences } = await openPage(browser(), `${site.url}guides/quick-start/`);
      const tab = (name: string) => page.getByRole("tab", { name });
      const shown = () =>
        page.evaluate<string>(
          "[...document.querySelectorAll('[role=tabpanel]')].find(({ hidden }) => !hidden)?.querySelector('pre').innerText ?? ''",
        );
      await expect.poll(shown).toContain("npm install hookproof");
      await tab("pnpm").first().click();
      await expect.poll(shown).toMatch(/^pnpm add hookproof .*\n+pnpm add -g hookproof-cli/);
      await page.keyboard.press("ArrowRight");
      await expect.poll(shown).toMatch(/^yarn add hookproof .*\n+yarn global add hookproof-cli/);
      await page.goto(`${site.url}guides/http-signatures/`);
      await expect.poll(shown).toBe("yarn add hookproof structured-headers");
      await page.goto(`${site.url}guides/first-webhook/`);
      expect(await page.locator("[data-tabs=Language] pre:visible").count()).toBe(1);
      await tab("Go").click();
      await expect.poll(shown).toContain("package main");
      await page.goto(`${site.url}guides/first-webhook/#php`);
      await expect.poll(shown).toContain("<?php");
      expect(await violations(page)).toEqual([]);
      expect(offences).toEqual([]);
      await context.close();
    });

    it("dark stays dark on the next page", async () => {
      const { page, context } = await openPage(browser(), site.url);
      const ground = () => page.evaluate<string>("getComputedStyle(document.body).backgroundColor");
      const light = await ground();
      await page.getByLabel("Select theme").first().selectOption("dark");
      const dark = await ground();
      expect(dark).not.toBe(light);
      await page.goto(`${site.url}guides/outbox/`);
      expect(await ground()).toBe(dark);
      await context.close();
    });
  });
});
