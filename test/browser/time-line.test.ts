import { expect, it } from "vitest";
import { describeOnStage } from "./support/on-stage.js";
import { withDecodedSecret } from "./support/stage.js";
import { violations } from "./support/violations.js";

describeOnStage("the time line, and the line between list and detail", (on) => {
  const items = () =>
    on.open.page.getByRole("tree", { name: "Requests, newest first" }).getByRole("treeitem");
  const slider = () => on.open.page.getByRole("slider", { name: /^Answers over time/ });
  const splitter = () => on.open.page.getByRole("separator", { name: "Width of the list: Requests" });
  const widthOfList = async () => (await on.open.page.locator(".master").boundingBox())?.width ?? 0;

  /** Clicks on the middle of the bar that the title names. */
  async function clickBar(index: number): Promise<void> {
    const box = await slider().boundingBox();
    if (!box) throw new Error("no time line");
    await on.open.page.mouse.click(box.x + ((index + 0.5) * box.width) / 60, box.y + box.height / 2);
  }

  it("a click on a bar narrows list, counts and export to its time, and another one takes it back", async () => {
    const { page } = on.open;
    await on.stage.send();
    expect(await on.stage.send(undefined, withDecodedSecret)).toBe(401);
    // What an hour ago was: from a file, as no test waits for it.
    const at = Date.now() - 3_600_000;
    const text = [...on.stage.inspector.exported({ format: "jsonl" })].join("");
    const older = text
      .trim()
      .split("\n")
      .slice(0, 1)
      .map((line) => {
        const entry = JSON.parse(line);
        return JSON.stringify({ ...entry, receivedAt: new Date(at).toISOString(), at });
      });
    await on.stage.inspector.imported(older.join("\n"));
    await expect.poll(() => items().count()).toBe(3);
    await clickBar(59);
    await expect.poll(() => slider().getAttribute("aria-valuetext")).toMatch(/^\d\d:\d\d:\d\d to now$/);
    const shown = await items().count();
    expect(shown).toBeLessThanOrEqual(3);
    await page.getByText(/^Only .* to now: show all$/).waitFor();
    await clickBar(59);
    await expect.poll(() => slider().getAttribute("aria-valuetext")).toBe("all times");
    await expect.poll(() => items().count()).toBe(3);
  });

  it("the arrow keys go from bar to bar, and Escape shows all", async () => {
    const { page } = on.open;
    await slider().focus();
    await page.keyboard.press("ArrowLeft");
    await expect.poll(() => slider().getAttribute("aria-valuetext")).not.toBe("all times");
    expect(await violations(page)).toEqual([]);
    await page.keyboard.press("Escape");
    await expect.poll(() => slider().getAttribute("aria-valuetext")).toBe("all times");
    await expect.poll(() => items().count()).toBe(3);
  });

  it("mouse and keys move the line between list and detail, which stays there", async () => {
    const { page } = on.open;
    const before = await widthOfList();
    await splitter().focus();
    await page.keyboard.press("ArrowRight");
    await expect.poll(widthOfList).toBeGreaterThan(before);
    const box = await splitter().boundingBox();
    await page.mouse.move((box?.x ?? 0) + 4, 400);
    await page.mouse.down();
    await page.mouse.move(800, 400);
    await page.mouse.up();
    await expect.poll(widthOfList).toBeGreaterThan(780);
    await page.reload();
    await items().first().waitFor();
    await expect.poll(widthOfList).toBeGreaterThan(780);
    await splitter().dblclick();
    await expect.poll(widthOfList).toBe(before);
  });

  it("a wide screen is used: three columns, and none of them empty", async () => {
    const { page } = on.open;
    await items().first().click();
    await page.locator(".summary").waitFor();
    for (const width of [1920, 2560]) {
      await page.setViewportSize({ width, height: 1000 });
      const right = await page.evaluate<number>(
        "Math.max(...[...document.querySelectorAll('.detail .card')].map((card) => card.getBoundingClientRect().right))",
      );
      expect(right).toBeGreaterThan(width - 60);
      expect(await violations(page)).toEqual([]);
    }
    const lefts = await page.evaluate<number>(
      "new Set([...document.querySelectorAll('.columns > div')].map((one) => one.getBoundingClientRect().left)).size",
    );
    expect(lefts).toBe(3);
    await page.setViewportSize({ width: 320, height: 800 });
    expect(await splitter().isVisible()).toBe(false);
    expect(await violations(page)).toEqual([]);
    expect(on.open.offences).toEqual([]);
  });
});
