import { expect, it } from "vitest";
import { describeOnStage } from "./support/on-stage.js";
import { withDecodedSecret } from "./support/stage.js";
import { violations } from "./support/violations.js";

const MANY = 12;
/** The rows whose cause does not fit its line. */
const CUT = `[...document.querySelectorAll(".row .cause")].map((cause) => cause.parentElement)
  .filter((reason) => reason.scrollWidth > reason.clientWidth).map((reason) => reason.textContent)`;

describeOnStage("what was refused, by its cause", (on) => {
  const list = () => on.open.page.getByRole("tree", { name: "Requests, newest first" });
  const items = () => list().getByRole("treeitem");
  const head = () => list().getByRole("treeitem", { name: `${MANY} requests` });

  it("many refusals of one cause are one line, in a few words, and the title counts them", async () => {
    await on.stage.send();
    for (let n = 0; n < MANY; n++) expect(await on.stage.send(undefined, withDecodedSecret)).toBe(401);
    await on.stage.send();
    await expect
      .poll(() => head().textContent())
      .toMatch(/Secret decoded from base64url[\d:]+12 requests#2 to #13since/);
    await expect.poll(() => items().count()).toBe(3);
    await expect.poll(() => on.open.page.title()).toBe(`${MANY} refused · Hookproof inspector`);
  });

  it("it unfolds and folds, by the mouse and by the keyboard", async () => {
    const { page } = on.open;
    await head().click();
    await expect.poll(() => items().count()).toBe(3 + MANY);
    expect(await head().getAttribute("aria-expanded")).toBe("true");
    await page.locator(".summary .note", { hasText: `#${MANY + 1} ` }).waitFor();
    await page.locator("#row-4").click();
    await page.locator(".summary .note", { hasText: "#4 " }).waitFor();
    expect(await page.locator("#row-4").getAttribute("aria-level")).toBe("2");
    expect(await violations(page)).toEqual([]);
    await list().focus();
    await page.keyboard.press("ArrowLeft");
    await expect.poll(() => items().count()).toBe(3);
    // What is open is in the line that it was folded into.
    expect(await head().getAttribute("aria-selected")).toBe("true");
    await page.keyboard.press("ArrowDown");
    await page.locator(".summary .note", { hasText: "#1 " }).waitFor();
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("ArrowRight");
    await expect.poll(() => items().count()).toBe(3 + MANY);
    await page.keyboard.press("ArrowLeft");
  });

  it("each is a line of its own where that is wanted", async () => {
    const { page } = on.open;
    await page.getByRole("button", { name: "By cause" }).click();
    await expect.poll(() => items().count()).toBe(2 + MANY);
    await page.getByRole("button", { name: "By cause" }).click();
    await expect.poll(() => items().count()).toBe(3);
  });

  it("no cause is cut at 1280 and 1440 pixels", async () => {
    const { page } = on.open;
    const stale = Math.floor(Date.now() / 1000) - 301;
    const refusals = [
      () => on.stage.send(undefined, () => ({ body: new TextEncoder().encode("{}") })),
      () =>
        on.stage.send(undefined, ({ headers }) => ({ headers: { ...headers, "Webhook-Signature": "x" } })),
      () =>
        on.stage.send(undefined, ({ headers }) => ({
          headers: { ...headers, "Webhook-Timestamp": String(stale) },
        })),
      () => on.stage.sendTo(on.stage.strictUrl, on.stage.tokenSigner),
      () => on.stage.sendTo(on.stage.tokensUrl, on.stage.tokenSigner, { timestamp: stale - 600 }),
      () => on.stage.sendTo(`${on.stage.url}x`, on.stage.tokenSigner),
    ];
    for (const refused of refusals) expect(await refused()).toBeGreaterThanOrEqual(400);
    await expect.poll(() => page.locator(".row .cause").count()).toBe(1 + refusals.length);
    for (const width of [1280, 1440]) {
      await page.setViewportSize({ width, height: 800 });
      expect(await page.evaluate(CUT)).toEqual([]);
    }
    // The longest that the catalogue has, as it would stand before a number.
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.evaluate(
      `document.querySelector(".row .cause").textContent = "The secret pasted twice, or with something behind it"`,
    );
    expect(await page.evaluate(CUT)).toEqual([]);
  });

  it("what is pressed is opened, though the rows go on under the mouse", async () => {
    const { page } = on.open;
    const before = await items().count();
    await page.locator("#row-14").hover();
    await page.mouse.down();
    for (let n = 0; n < 3; n++) await on.stage.send();
    await expect.poll(() => items().count()).toBeGreaterThan(before);
    await page.mouse.up();
    await page.locator(".summary .note", { hasText: "#14 " }).waitFor();
  });

  it("a press that came to nothing opens nothing later", async () => {
    const { page } = on.open;
    await page.locator("#row-1").click({ button: "right" });
    await page.locator(".list").dispatchEvent("mousedown");
    await page.locator(".list").dispatchEvent("click");
    await page.evaluate("new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))");
    expect(page.url()).toMatch(/#14$/);
  });

  it("none of that left the machine or broke anything", () => {
    expect(on.open.offences).toEqual([]);
  });
});
