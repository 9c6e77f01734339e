import { type Browser, type BrowserContext, chromium, type Locator, type Page } from "playwright-core";
import { afterAll, beforeAll, vi } from "vitest";
import { describeWith } from "../../kit/needs.js";
import { hasTool } from "../../kit/outside-tool.js";

const EXECUTABLE = "/usr/bin/chromium";
/** A browser among other tests on two cores can be slow; how long something may take is asked in the long form. */
const BUSY_MS = 120_000;

/** Debian's browser, quiet: it fetches nothing by itself. */
export function launch(env: NodeJS.ProcessEnv = process.env): Promise<Browser> {
  return chromium.launch({
    executablePath: EXECUTABLE,
    args: [
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      "--disable-lcd-text", // grey edges: smaller pictures, the same everywhere
    ],
    env: Object.fromEntries(Object.entries(env).flatMap(([name, value]) => (value ? [[name, value]] : []))),
  });
}

/** Tests in a real browser; skipped where there is none. */
export function describeInBrowser(name: string, tests: (browser: () => Browser) => void): void {
  vi.setConfig({ testTimeout: BUSY_MS, hookTimeout: BUSY_MS });
  describeWith("chromium", hasTool(EXECUTABLE, "--version"))(name, () => {
    let browser: Browser;
    beforeAll(async () => {
      browser = await launch();
    });
    afterAll(() => browser.close());
    tests(() => browser);
  });
}

/** A page, and what it did that it should not have done. */
export interface WatchedPage {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Requests to other origins, errors, refusals of the content security policy. None, if all is well. */
  readonly offences: string[];
}

/** Opens an address in a window of its own and watches what the page does. */
export async function openPage(
  browser: Browser,
  url: string,
  { context, wide = true, dark = false }: { context?: BrowserContext; wide?: boolean; dark?: boolean } = {},
): Promise<WatchedPage> {
  const own =
    context ??
    (await browser.newContext({
      viewport: wide ? { width: 1280, height: 800 } : { width: 375, height: 740 },
      colorScheme: dark ? "dark" : "light",
      reducedMotion: "reduce",
      timezoneId: "UTC",
      locale: "en-GB",
      permissions: ["clipboard-read", "clipboard-write"],
    }));
  own.setDefaultTimeout(BUSY_MS / 4);
  const page = await own.newPage();
  const offences: string[] = [];
  page.on("request", (request) => {
    if (new URL(request.url()).origin !== new URL(url).origin) offences.push(`request to ${request.url()}`);
  });
  page.on("pageerror", (error) => offences.push(String(error.stack)));
  page.on("dialog", (dialog) => {
    offences.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("console", (message) => {
    // What the browser says about a connection is no fault of the page.
    if (message.type() === "error" && !/Failed to load resource/.test(message.text()))
      offences.push(message.text());
  });
  await page.goto(url);
  return { page, context: own, offences };
}

/** The requests in the list with this status; their ids may have its digits in them. */
export function rowsWith(page: Page, status: string): Locator {
  return page.locator(".row", { has: page.locator(".badge", { hasText: status }) });
}
