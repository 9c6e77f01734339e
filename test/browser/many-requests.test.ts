import { randomUUID } from "node:crypto";
import { cpus, loadavg } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { createSender, hmacSigner } from "hookproof";
import { afterAll, beforeAll, expect, it } from "vitest";
import { itWith, LONG } from "../kit/needs.js";
import { describeInBrowser, openPage } from "./support/chromium.js";
import { openStage, SECRET, type Stage } from "./support/stage.js";

const MANY = 5_000;
const LEAST_FRAMES_PER_SECOND = 50;
const [, isLong] = LONG;

/** Starts to note, in the page, how many frames there are, and how long each takes. */
const WATCH_FRAMES = `
  window.frameCount = 0;
  window.longestFrame = 0;
  let before = performance.now();
  requestAnimationFrame(function note(now) {
    window.longestFrame = Math.max(window.longestFrame, now - before);
    before = now;
    window.frameCount++;
    requestAnimationFrame(note);
  });
`;

describeInBrowser("five thousand requests", (browser) => {
  let stage: Stage;
  let line: string;

  beforeAll(async () => {
    stage = await openStage();
    await stage.send();
    line = [...stage.inspector.exported({ format: "jsonl", credentials: "1" })].join("").trim();
  });
  afterAll(() => stage.stop());

  /** The recorded request, many times over, each with an id of its own. */
  const requests = (count: number) => {
    const id = /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f-]{21}/.exec(line)?.[0] ?? "";
    return Array.from({ length: count }, () => line.replaceAll(id, randomUUID())).join("\n");
  };

  it("are a window of rows in the document, and a place to scroll to for each", async () => {
    const { page, context, offences } = await openPage(browser(), stage.pageUrl);
    await page.locator(".row").first().waitFor();
    if (isLong) await page.evaluate(WATCH_FRAMES);
    await stage.inspector.imported(requests(MANY));
    const newest = stage.inspector.list({ limit: 1 }).rows[0]?.n ?? 0;
    await page.locator(`#row-${newest}`).waitFor();
    await page.getByRole("button", { name: `All ${MANY}` }).waitFor();
    if (isLong) expect(await page.evaluate("window.longestFrame")).toBeLessThan(100);
    await expect.poll(() => page.locator(".row").count()).toBeLessThan(50);

    // The list holds its place while others arrive above.
    const list = page.locator(".list");
    await page.evaluate("document.querySelector('.list').scrollTop = 52 * 2000");
    const reading = page.locator(`#row-${newest - 2_000}`);
    await reading.waitFor();
    const top = async () => (await reading.boundingBox())?.y;
    const before = await top();
    await stage.send();
    await page.locator(`.row[aria-posinset="2002"]`).waitFor();
    expect(await top()).toBe(before);

    await list.press("End");
    const oldest = newest + 1 - MANY + 1;
    await page.locator(`#row-${oldest}`).waitFor();
    await expect.poll(() => page.locator(".row").count()).toBeLessThan(50);
    expect(offences).toEqual([]);
    await context.close();
  });

  itWith(...LONG)("over HTTP in ten seconds leave the page its pace", { timeout: 120_000 }, async () => {
    const { page, context } = await openPage(browser(), stage.pageUrl);
    await page.locator(".row").first().waitFor();
    await page.evaluate(WATCH_FRAMES);
    const sender = createSender({ url: stage.url, signer: hmacSigner({ secret: SECRET }) });
    const startedAt = performance.now();
    for (let tenth = 1; tenth <= 100; tenth++) {
      await Promise.all(Array.from({ length: MANY / 100 }, (_, n) => sender.send({ tenth, n })));
      await delay(Math.max(0, startedAt + tenth * 100 - performance.now()));
    }
    const seconds = (performance.now() - startedAt) / 1000;
    const newest = stage.inspector.list({ limit: 1 }).rows[0]?.n ?? 0;
    await page.locator(`#row-${newest}`).waitFor({ timeout: 1_000 });
    const frame = await page.evaluate("Math.round(window.longestFrame)");
    const framesPerSecond = (await page.evaluate<number>("window.frameCount")) / seconds;
    console.info(
      `${MANY} requests in ${seconds.toFixed(1)} s: ${framesPerSecond.toFixed(0)} frames a second, the longest ${frame} ms; load ${loadavg()[0]?.toFixed(1)} on ${cpus().length} processors`,
    );
    expect(framesPerSecond).toBeGreaterThanOrEqual(LEAST_FRAMES_PER_SECOND);
    expect(frame).toBeLessThan(100);
    await context.close();
  });

  itWith(...LONG)("and the page is there within 200 ms", async () => {
    const { page, context } = await openPage(browser(), stage.pageUrl);
    await page.locator(".row").first().waitFor();
    const paint = `performance.getEntriesByName("first-contentful-paint")[0].startTime`;
    expect(await page.evaluate(paint)).toBeLessThan(200);
    await context.close();
  });
});
