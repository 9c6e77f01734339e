import { randomUUID } from "node:crypto";
import { cpus, loadavg } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { createSender, hmacSigner } from "hookproof";
import { afterAll, beforeAll, expect, it } from "vitest";
import { itWith, LONG } from "../kit/needs.js";
import { describeInBrowser, openPage } from "./support/chromium.js";
import { openStage, SECRET, type Stage } from "./support/stage.js";

const MANY = 5_000;
/** Of 60 frames a second that an empty page has; a busy machine gives fewer to both. */
const MIN_SHARE_OF_FRAMES = 50 / 60;
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

/** Starts to count, in the page, how often the list is drawn anew, and how many rows are built for it. */
const WATCH_LIST = `
  window.drawn = 0;
  window.rowsBuilt = 0;
  const rows = document.querySelector(".rows");
  new MutationObserver((changes) => {
    window.drawn++;
    for (const { target, addedNodes } of changes) if (target === rows) window.rowsBuilt += addedNodes.length;
  }).observe(rows, { childList: true, subtree: true, attributeFilter: ["id"] });
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
    const imported = stage.inspector.list({ limit: 1 }).rows[0]?.n ?? 0;
    await page.locator(`#row-${imported}`).waitFor();
    await page.getByRole("button", { name: `All ${MANY}` }).waitFor();
    if (isLong) expect(await page.evaluate("window.longestFrame")).toBeLessThan(100);
    await expect.poll(() => page.locator(".row").count()).toBeLessThan(50);

    // At the top, one more is shown without a row being built for it.
    await page.evaluate(WATCH_LIST);
    await stage.send();
    const newest = imported + 1;
    await page.locator(`#row-${newest}`).waitFor();
    expect(await page.evaluate("window.rowsBuilt")).toBe(0);

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

  /** Sends them all over HTTP in ten seconds, or as fast as the machine can; how many seconds it took. */
  const sendAll = async () => {
    const sender = createSender({ url: stage.url, signer: hmacSigner({ secret: SECRET }) });
    const startedAt = performance.now();
    for (let tenth = 1; tenth <= 100; tenth++) {
      await Promise.all(Array.from({ length: MANY / 100 }, (_, n) => sender.send({ tenth, n })));
      await delay(Math.max(0, startedAt + tenth * 100 - performance.now()));
    }
    return (performance.now() - startedAt) / 1000;
  };

  itWith(...LONG)("over HTTP in ten seconds leave the page its pace", async () => {
    const empty = await openPage(browser(), "about:blank");
    await empty.page.evaluate(WATCH_FRAMES);
    const secondsOfEmpty = await sendAll();
    const inEmpty = (await empty.page.evaluate<number>("window.frameCount")) / secondsOfEmpty;
    await empty.context.close();

    const { page, context } = await openPage(browser(), stage.pageUrl);
    await page.locator(".row").first().waitFor();
    await page.evaluate(WATCH_FRAMES);
    await page.evaluate(WATCH_LIST);
    const seconds = await sendAll();
    const frames = (await page.evaluate<number>("window.frameCount")) / seconds;
    const newest = stage.inspector.list({ limit: 1 }).rows[0]?.n ?? 0;
    await page.locator(`#row-${newest}`).waitFor({ timeout: 1_000 });
    const [longest, drawn] = await page.evaluate<[number, number]>("[window.longestFrame, window.drawn]");
    console.info(
      `${MANY} requests in ${seconds.toFixed(1)} s: ${frames.toFixed(0)} frames a second, an empty page ${inEmpty.toFixed(0)}; the longest ${longest.toFixed(0)} ms; the list drawn ${drawn} times; load ${loadavg()[0]?.toFixed(1)} on ${cpus().length} processors`,
    );
    expect(frames / inEmpty).toBeGreaterThanOrEqual(MIN_SHARE_OF_FRAMES);
    expect(drawn / seconds).toBeLessThan(6);
    expect(longest).toBeLessThan(100);
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
