// What a person sees who opens a key set's host in a browser.
import { createKeySet, generateKey } from "hookproof/jwks";
import { startKeySetHost } from "hookproof-service";
import { expect, it, onTestFinished } from "vitest";
import { describeInBrowser, openPage } from "./support/chromium.js";
import { cutTexts } from "./support/cut-texts.js";
import { violations } from "./support/violations.js";

describeInBrowser("the host of a key set", (browser) => {
  it.each([
    ["light", false],
    ["dark", true],
  ])("its root leads to the key set, which the browser shows, %s", async (_scheme, dark) => {
    const key = await generateKey({ alg: "ES256", kid: "key-1" });
    const host = await startKeySetHost({ keySet: createKeySet([key]) });
    onTestFinished(() => host.stop());
    const { page, context, offences } = await openPage(browser(), host.url, { dark });
    await page.getByRole("heading", { name: "Key set host" }).waitFor();
    for (const width of [320, 390, 768, 1024, 1280, 1440, 1920, 2560]) {
      await page.setViewportSize({ width, height: 800 });
      expect(await page.evaluate("document.body.scrollWidth - innerWidth")).toBeLessThanOrEqual(0);
      expect(await cutTexts(page)).toEqual([]);
      expect(await violations(page)).toEqual([]);
    }
    await page.getByRole("link", { name: "/.well-known/jwks.json" }).click();
    await page.waitForURL(host.keySetUrl);
    expect(JSON.parse((await page.locator("body").textContent()) ?? "")).toEqual({ keys: [key.publicJwk] });
    expect(offences).toEqual([]);
    await context.close();
  });
});
