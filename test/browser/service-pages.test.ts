import { createService, OPERATION_IDS, type Service } from "hookproof-service";
import { afterAll, beforeAll, expect, it } from "vitest";
import { describeInBrowser, openPage } from "./support/chromium.js";
import { violations } from "./support/violations.js";

const LOOKS: [name: string, look: { dark?: boolean; wide?: boolean }][] = [
  ["wide", {}],
  ["in the dark", { dark: true }],
  ["at 375 px", { wide: false }],
];

describeInBrowser("the service's own pages", (browser) => {
  let service: Service;
  const open = (path: string, look = {}) => openPage(browser(), service.url + path, look);

  beforeAll(async () => {
    service = await createService({ fixture: {} });
  });
  afterAll(() => service.stop());

  it.each(LOOKS)("the start page, %s, has nothing that axe finds", async (_name, look) => {
    const { page, context, offences } = await open("/", look);
    await page.getByRole("link", { name: "API reference" }).waitFor();
    expect(await violations(page)).toEqual([]);
    expect(await page.evaluate("document.body.scrollWidth - innerWidth")).toBeLessThanOrEqual(0);
    expect(offences).toEqual([]);
    await context.close();
  });

  it.each(LOOKS)("the API reference, %s, has nothing that axe finds", async (_name, look) => {
    const { page, context, offences } = await open("/reference", look);
    await page.getByText("The HTTP and JSON interface").waitFor();
    expect(await violations(page)).toEqual([]);
    expect(await page.evaluate("document.body.scrollWidth - innerWidth")).toBeLessThanOrEqual(0);
    expect(offences).toEqual([]);
    await context.close();
  });

  it("no part of it has anything either: authentication, groups, and every operation", async () => {
    const { page, context, offences } = await open("/reference");
    await page.getByText("The HTTP and JSON interface").waitFor();
    const places = await page.evaluate<string[]>(`
      const links = document.querySelector("openapi-explorer").shadowRoot.querySelectorAll("[id^=link-]");
      Array.from(links, ({ id }) => id.slice("link-".length))`);
    expect(places.length).toBeGreaterThan(OPERATION_IDS.length);
    const found: string[] = [];
    for (const place of places) {
      await page.evaluate(`location.hash = "?route=${place}"`);
      await page.locator(`[id="link-${place}"].active`).waitFor();
      const wrong = await violations(page, "main", "openapi-explorer");
      found.push(...wrong.map((text) => `${place}: ${text}`));
    }
    expect(found).toEqual([]);
    expect(offences).toEqual([]);
    await context.close();
  });

  it("is scrolled by the keyboard, and calls the service it came from", async () => {
    const { page, context, offences } = await open("/reference");
    await page.getByText("The HTTP and JSON interface").waitFor();
    expect(await page.locator("main").getAttribute("tabindex")).toBe("0");
    expect(await page.locator("openapi-explorer").getAttribute("server-url")).toBe(service.url);
    expect(offences).toEqual([]);
    await context.close();
  });
});
