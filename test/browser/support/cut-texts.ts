// What a page cuts off because there is no room for it.
import type { Page } from "playwright-core";

/** The texts of which a part is not seen, without those that are only for being read out. */
export async function cutTexts(page: Page): Promise<string[]> {
  return await page.evaluate<string[]>(`
    [...document.querySelectorAll("body *")]
      .filter((one) => one.textContent.trim() && one.checkVisibility() && !one.closest(".visually-hidden"))
      .filter((one) => /hidden|clip/.test(getComputedStyle(one).overflowX) && one.scrollWidth > one.clientWidth + 1)
      .map((one) => one.className + ": " + one.textContent)`);
}
