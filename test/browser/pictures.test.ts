import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hmacSigner } from "hookproof";
import { memoryStore } from "hookproof/outbox";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, it, vi } from "vitest";
import { describeWith } from "../kit/needs.js";
import { shownOutbox } from "../kit/shown-outbox.js";
import { launch, openPage } from "./support/chromium.js";
import { openStage, SECRET, type Stage, withDecodedSecret } from "./support/stage.js";

/** For README, where the rest has to fit on the same screen. */
const UPPER_HALF = { x: 0, y: 0, width: 1280, height: 484, scale: 1 };
type Clip = typeof UPPER_HALF;

const FOLDER = join(import.meta.dirname, "../../docs/images");

/** The pictures of README and docs: HOOKPROOF_SCREENSHOTS=1 npx vitest run test/browser/pictures.test.ts */
describeWith("HOOKPROOF_SCREENSHOTS=1", process.env.HOOKPROOF_SCREENSHOTS)(
  "the pictures of README and docs",
  () => {
    let browser: Browser;
    let stage: Stage;
    let fonts: string;

    beforeAll(async () => {
      fonts = await withoutWideFont();
      browser = await launch({ ...process.env, FONTCONFIG_FILE: join(fonts, "fonts.conf") });
      // Only the date is set, so that the pictures are the same whenever they are made.
      vi.useFakeTimers({ toFake: ["Date"], now: Date.UTC(2026, 0, 15, 14, 0, 0) });
      await mkdir(FOLDER, { recursive: true });
      stage = await openStage();
    });
    afterAll(async () => {
      vi.useRealTimers();
      await browser.close();
      await stage.stop();
      await rm(fonts, { recursive: true });
    });

    it("nothing received yet", async () => {
      const { page, context } = await openPage(browser, stage.pageUrl);
      await page.locator(".empty").waitFor();
      await take(page, "inspector-empty");
      await context.close();
    });

    it("each verdict, light, dark and narrow", async () => {
      const numbers = await tell(stage);
      const { page, context } = await openPage(browser, stage.pageUrl);
      for (const [status, n] of Object.entries(numbers)) {
        await page.goto(`${stage.pageUrl}&n=${n}`);
        await page.locator(".summary", { hasText: `#${n} ` }).waitFor();
        await take(page, `inspector-${status}`);
        if (status === "401") await take(page, "first-401", UPPER_HALF);
      }
      await page.goto(`${stage.pageUrl}&n=${numbers[200]}`);
      await page.locator(".summary", { hasText: `#${numbers[200]} ` }).waitFor();
      await page.keyboard.press("r");
      await page.locator("[role=menu]").waitFor();
      await take(page, "inspector-replay");
      await page.keyboard.press("Escape");
      await page.getByRole("button", { name: "Another test event" }).click();
      await page.locator("dialog").waitFor();
      await take(page, "inspector-test-event");
      await page.keyboard.press("Escape");
      await page.setViewportSize({ width: 1920, height: 1000 });
      await page.goto(`${stage.pageUrl}&n=${numbers[401]}`);
      await page.locator(".summary", { hasText: `#${numbers[401]} ` }).waitFor();
      await take(page, "inspector-wide");
      await context.close();

      const dark = await openPage(browser, `${stage.pageUrl}&n=${numbers[401]}`, { dark: true });
      await dark.page.locator(".summary").waitFor();
      await take(dark.page, "inspector-dark");
      await dark.context.close();

      const narrow = await openPage(browser, stage.pageUrl, { wide: false });
      await narrow.page.locator(".row").first().waitFor();
      await take(narrow.page, "inspector-narrow");
      await narrow.page.locator(`#row-${numbers[401]}`).click();
      await narrow.page.locator(".summary").waitFor();
      await take(narrow.page, "inspector-narrow-401");
      await narrow.context.close();
    });

    it("the page of an outbox", async () => {
      // A dispatcher needs a clock that goes on; of dates the page says only since when a worker runs.
      vi.useRealTimers();
      const store = memoryStore();
      const outbox = await shownOutbox(store, {
        allow: ["redrive", "pause"],
        says: "our database is being moved",
      });
      await outbox.outbox.pause("well", { reason: "their maintenance until 18:00" });
      outbox.outbox.start();
      await store.alive({ id: "another", name: "orders-2:815", runsForMs: 5_400_000 });
      const { page, context } = await openPage(browser, outbox.page.pageUrl);
      await page.locator(".dead").waitFor();
      await page.getByText("orders-2:815").waitFor();
      await take(page, "outbox");
      await context.close();
      await outbox.stop();
    });
  },
);

/** Puts what is to be seen into a file: WebP, a third of the same picture as PNG. */
async function take(page: Page, name: string, clip?: Clip): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const { data } = await session.send("Page.captureScreenshot", {
    format: "webp",
    quality: 65,
    ...(clip && { clip }),
  });
  await writeFile(join(FOLDER, `${name}.webp`), data, "base64");
}

/** Four minutes at two listeners; the number of one request of each kind. */
async function tell(stage: Stage): Promise<Record<string, number>> {
  const hmac = hmacSigner({ secret: SECRET });
  const numbers: Record<string, number> = {};
  let events = 0;
  let sent = 0;
  const newId = () => {
    const hex = createHash("sha256").update(`${++events}`).digest("hex");
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
  };
  const say = async (what: string | undefined, afterMs: number, work: () => Promise<number>) => {
    vi.setSystemTime(Date.now() + afterMs);
    const status = await work();
    numbers[what ?? status] = ++sent;
  };
  const payload = (n: number) => ({
    type: "user.offboarded",
    userId: `u_${n}`,
    grants: ["github:admin", "aws:billing"],
    at: "2026-01-15T14:00:00Z",
  });
  for (let n = 120; n < 132; n++)
    await say(undefined, 6_000 + (n % 3) * 4_000, () =>
      n % 4 === 3
        ? stage.sendTo(stage.tokensUrl, stage.tokenSigner, { eventId: newId(), payload: payload(n) })
        : stage.sendTo(stage.url, hmac, { eventId: newId(), payload: payload(n) }),
    );
  stage.inspector.force({ listenerId: "lst_local", status: 503, times: 5 });
  const stubborn = newId();
  for (const afterMs of [4_000, 1_000, 2_000, 4_000, 8_000])
    await say("forced", afterMs, () =>
      stage.sendTo(stage.url, hmac, { eventId: stubborn, payload: payload(140) }),
    );
  await say(undefined, 9_000, () =>
    stage.sendTo(stage.url, hmac, { eventId: newId(), payload: payload(141) }),
  );
  await say(undefined, 3_000, () =>
    stage.sendTo(stage.strictUrl, hmac, { eventId: newId(), payload: payload(142) }),
  );
  await say(undefined, 6_000, () =>
    stage.sendTo(stage.url, hmac, { eventId: newId(), payload: payload(143), timestamp: nowSeconds() - 640 }),
  );
  await say("token", 8_000, () =>
    stage.sendTo(stage.tokensUrl, stage.tokenSigner, {
      eventId: newId(),
      payload: payload(144),
      change: ({ body }) => ({
        body: new TextEncoder().encode(JSON.stringify(JSON.parse(text(body)), null, 1)),
      }),
    }),
  );
  const twice = newId();
  await say(undefined, 5_000, () => stage.sendTo(stage.url, hmac, { eventId: twice, payload: payload(145) }));
  await say("409", 2_000, () => stage.sendTo(stage.url, hmac, { eventId: twice, payload: payload(146) }));
  for (const afterMs of [5_000, 1_000, 2_000])
    await say("401", afterMs, () =>
      stage.sendTo(stage.url, hmac, { eventId: newId(), payload: payload(147), change: withDecodedSecret }),
    );
  await say("200", 4_000, () => stage.sendTo(stage.url, hmac, { eventId: newId(), payload: payload(148) }));
  vi.setSystemTime(Date.now() + 3_000);
  return numbers;
}

function nowSeconds(): number {
  return Math.floor(Date.now() / 1000);
}

function text(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

/** A folder with settings: Debian's own font for user interfaces is a wide one, which no desktop uses. */
async function withoutWideFont(): Promise<string> {
  const found = execFileSync("fc-match", ["Liberation Sans"], { encoding: "utf8" });
  if (!found.includes("Liberation Sans")) throw new Error("the pictures take Debian's fonts-liberation");
  const folder = await mkdtemp(join(tmpdir(), "hookproof-fonts-"));
  await writeFile(
    join(folder, "fonts.conf"),
    `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <include ignore_missing="yes">/etc/fonts/fonts.conf</include>
  <selectfont><rejectfont><glob>*/dejavu/*</glob></rejectfont></selectfont>
  <match target="pattern"><edit name="family" mode="append_last"><string>Liberation Sans</string></edit></match>
</fontconfig>
`,
  );
  return folder;
}
