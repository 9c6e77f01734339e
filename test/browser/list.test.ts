import { createHmac } from "node:crypto";
import { connect } from "node:net";
import { hmacSigner, type SignedRequest } from "hookproof";
import { expect, it } from "vitest";
import { rowsWith } from "./support/chromium.js";
import { describeOnStage } from "./support/on-stage.js";
import { SECRET } from "./support/stage.js";
import { violations } from "./support/violations.js";

/** An empty body with the signature that it should have. */
function withoutBody({ headers, timestamp, eventId }: SignedRequest): Partial<SignedRequest> {
  const signature = createHmac("sha256", SECRET).update(`${timestamp}.${eventId}.`).digest("base64url");
  return { body: new Uint8Array(), headers: { ...headers, "Webhook-Signature": signature } };
}

describeOnStage("the list, and what is open", (on) => {
  const opened = (n: number) => on.open.page.locator(".summary .note", { hasText: `#${n} ` }).waitFor();
  const follow = () => on.open.page.getByRole("button", { name: "Follow" });
  const newest = () => on.stage.inspector.list({ limit: 1 }).rows[0]?.n ?? 0;

  it("a test event is sent from the empty page, and from the bar", async () => {
    const { page } = on.open;
    await page.locator(".empty").getByRole("button", { name: "Send a test event" }).click();
    await opened(1);
    await page.getByText("Test event to lst_local: 200").waitFor();
    await page.getByRole("banner").getByRole("button", { name: "Send a test event" }).click();
    await opened(2);
    await expect.poll(() => page.locator("#row-2").textContent()).toContain("test event");
  });

  it("a row says the type of its event, how its body begins, and when it came", async () => {
    await on.stage.send({ type: "user.suspended", userId: "u_77", list: [1, 2] });
    await opened(3);
    const text = await on.open.page.locator("#row-3").textContent();
    expect(text).toMatch(
      /^200user\.suspended userId: u_77, list: \[2\]\d\d:\d\d:\d\d#3[\d.]+ ms[0-9a-f]{8}\d+ B\d s ago$/,
    );
    const time = await on.open.page.locator(".summary .note").textContent();
    expect(time).toMatch(/^#3 · \d+ \w+ 2\d{3}, \d\d:\d\d:\d\d UTC · \d s ago · [\d.]+ ms$/);
  });

  it("the body comes first, and the checks that passed are folded", async () => {
    const titles = await on.open.page.locator("article h3").allTextContents();
    expect(titles.slice(0, 4)).toEqual(["Body", "Request", "Answer", "Checks"]);
    expect(await on.open.page.locator(".checks li").count()).toBe(0);
    await on.open.page.getByText("All 15 checks passed").click();
    await expect.poll(() => on.open.page.locator(".checks li").count()).toBe(15);
  });

  it("the newest is followed until somebody chooses one, and again when it is asked for", async () => {
    const { page } = on.open;
    await page.locator("#row-2").click();
    await opened(2);
    await on.stage.send();
    await page.locator("#row-4").waitFor();
    await opened(2);
    await expect.poll(() => follow().textContent()).toContain("2");
    expect(new URL(page.url()).hash).toBe("#2");
    await page.keyboard.press("f");
    await opened(4);
    await on.stage.send();
    await opened(5);
    expect(new URL(page.url()).hash).toBe("");
  });

  it("the search is left with Enter and Escape, and its arrows move in the list", async () => {
    const { page } = on.open;
    const search = page.getByLabel("Search", { exact: true });
    await page.keyboard.press("/");
    await page.keyboard.type("type:offboarded");
    await page.locator("#row-3").waitFor({ state: "detached" });
    await opened(5);
    await page.keyboard.press("ArrowDown");
    await opened(4);
    await page.keyboard.press("Enter");
    await expect.poll(() => page.evaluate("document.activeElement.className")).toBe("list");
    await page.keyboard.press("ArrowDown");
    await opened(2);
    await page.keyboard.press("/");
    await page.keyboard.press("Escape");
    expect(await search.inputValue()).toBe("type:offboarded");
    await page.keyboard.press("Escape");
    await expect.poll(() => search.inputValue()).toBe("");
    await opened(2);
  });

  it("what is open is in the list; where nothing matches, that stands on top of it", async () => {
    const { page } = on.open;
    const search = page.getByLabel("Search", { exact: true });
    await search.fill("u_77");
    await opened(3);
    await search.fill("nothing has this");
    const nothing = page.getByText("Nothing matches.");
    await nothing.waitFor();
    const [list, words] = [await page.locator(".list").boundingBox(), await nothing.boundingBox()];
    expect((words?.y ?? 0) - (list?.y ?? 0)).toBeLessThan(60);
    expect(await page.locator("article").count()).toBe(0);
    await search.fill("");
    await opened(2);
  });

  it("a request is pinned, noted, found by it, and compared with another one", async () => {
    const { page } = on.open;
    await page.locator("#row-3").click();
    await opened(3);
    await page.keyboard.press("p");
    await page.getByRole("button", { name: "Add a note" }).click();
    await page.keyboard.type("<b>the suspended one</b>");
    await page.keyboard.press("Enter");
    await expect.poll(() => page.locator("#row-3").textContent()).toContain("<b>the suspended one</b>");
    await page.getByRole("button", { name: "Pinned 1" }).click();
    await page.locator("#row-2").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Pinned 1" }).click();
    await page.getByRole("button", { name: "Compare" }).click();
    await page.getByText("Choose the request that #3 is compared with.").waitFor();
    await page.locator("#row-5").click();
    await page.getByRole("heading", { name: "#3 and #5" }).waitFor();
    await expect
      .poll(() => page.locator(".diff-first").allTextContents())
      .toContain('−   "type": "user.suspended",');
    expect(await violations(page)).toEqual([]);
    await page.getByRole("button", { name: "End the comparison" }).click();
    await opened(5);
  });

  it("replay says rightly that a body which is no JSON is refused again", async () => {
    const { page } = on.open;
    expect(await on.stage.send(undefined, withoutBody)).toBe(400);
    await page.locator(`#row-${newest()}`).click();
    await opened(newest());
    await page.keyboard.press("r");
    const item = page.getByRole("menuitem", { name: "New id" });
    expect(await item.locator("small").textContent()).toBe("400: “body” fails as before");
    const before = newest();
    await item.click();
    await opened(before + 1);
    await page.locator(".summary .badge", { hasText: "400" }).waitFor();
  });

  it("what was only cut is not shown as wrong", async () => {
    const { page } = on.open;
    expect(
      await on.stage.send(undefined, () => ({ body: new TextEncoder().encode("x".repeat(1_000_000)) })),
    ).toBe(413);
    await page.locator(`#row-${newest()}`).click();
    await page.locator(".summary .badge", { hasText: "413" }).waitFor();
    await page.getByText(/The body was cut at [\d.]+ KB: the signature was not compared\./).waitFor();
    expect(await page.locator(".comparison mark").count()).toBe(0);
    await page.getByText("1000000 bytes (Content-Length)").waitFor();
    await page.keyboard.press("r");
    expect(await page.getByRole("menuitem", { name: "Exact" }).getAttribute("aria-disabled")).toBe("true");
    await page.keyboard.press("Escape");
  });

  it("what Node itself has refused is listed, with why", async () => {
    const { port, hostname } = new URL(on.stage.url);
    const socket = connect(Number(port), hostname);
    socket.on("error", () => {});
    socket.write(`GET /<img> HTTP/1.1\r\nX: ${"<script>".repeat(4_000)}\r\n\r\n`);
    const row = rowsWith(on.open.page, "431");
    await row.click();
    socket.destroy();
    await on.open.page.getByText("No listener saw this request").waitFor();
    await on.open.page.locator(".code", { hasText: "<script>" }).waitFor();
    expect(await violations(on.open.page)).toEqual([]);
  });

  it("a link to an old one opens it with its row in sight, after a reload too", async () => {
    const signer = hmacSigner({ secret: SECRET });
    for (let many = 0; many < 80; many++) await on.stage.sendTo(on.stage.url, signer);
    const { page } = on.open;
    const inSight = async () => {
      await opened(2);
      await expect.poll(() => page.locator("#row-2").isVisible()).toBe(true);
      const [row, list] = await Promise.all(
        ["#row-2", ".list"].map((one) => page.locator(one).boundingBox()),
      );
      expect(row?.y).toBeGreaterThanOrEqual(list?.y ?? 0);
      expect((row?.y ?? 0) + 52).toBeLessThanOrEqual((list?.y ?? 0) + (list?.height ?? 0) + 1);
    };
    await page.goto(`${on.stage.pageUrl}&n=2`);
    await inSight();
    await page.reload();
    await inSight();
  });

  it("with colours of the reader's own, what is chosen is told apart", async () => {
    const { page } = on.open;
    await page.emulateMedia({ forcedColors: "active" });
    const ground = (selector: string) =>
      page.evaluate(`getComputedStyle(document.querySelector('${selector}')).backgroundColor`);
    expect(await ground('.row[aria-selected="true"]')).not.toBe(await ground('.row[aria-selected="false"]'));
    expect(await ground('.chips [aria-pressed="true"]')).not.toBe(
      await ground('.chips [aria-pressed="false"]'),
    );
    await page.emulateMedia({ forcedColors: "none" });
  });

  it("no word is cut: not of a code, of what is chosen, or of what marks a row", async () => {
    const { page } = on.open;
    await on.stage.send(undefined, ({ headers }) => ({
      headers: { ...headers, "Content-Encoding": "gzip" },
    }));
    await page.getByRole("banner").getByRole("button", { name: "Send a test event" }).click();
    const marked = page.locator(".row").first().locator(".origin");
    await expect.poll(() => marked.textContent()).toBe("test event");
    const facts = page.locator(".row").first().locator(".facts");
    for (const [width, isWide] of [
      [1280, true],
      [375, false],
    ] as const) {
      await page.setViewportSize({ width, height: 800 });
      if (!isWide) await page.getByRole("button", { name: "Requests" }).click();
      const [mark, all] = await Promise.all([marked.boundingBox(), facts.boundingBox()]);
      expect((mark?.x ?? 0) + (mark?.width ?? 0)).toBeLessThanOrEqual((all?.x ?? 0) + (all?.width ?? 0));
      // As wide as it would be with what is chosen alone.
      expect(
        await page.evaluate<number>(`(() => {
        const select = document.querySelector(".filter select");
        const alone = select.cloneNode(false);
        alone.append(select.selectedOptions[0].cloneNode(true));
        alone.style.cssText = "position: absolute; flex: none; width: auto";
        select.parentElement.append(alone);
        const missing = alone.offsetWidth - select.offsetWidth;
        alone.remove();
        return missing;
      })()`),
      ).toBeLessThanOrEqual(0);
      await rowsWith(page, "415").first().click();
      await page.locator(".summary .badge", { hasText: "415" }).waitFor();
      const title = page.locator(".summary h2");
      expect(await title.textContent()).toMatch(/^[A-Z]+(?:_[A-Z]+)+$/);
      const cut = `[...document.querySelector(".summary h2").childNodes].filter((node) => {
        const range = document.createRange();
        range.selectNodeContents(node);
        return node.nodeType === 3 && new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size > 1;
      }).map((node) => node.data)`;
      expect(await page.evaluate(cut), `${width} px`).toEqual([]);
    }
    await page.setViewportSize({ width: 1280, height: 800 });
  });

  it("none of that left the machine or broke anything", () => {
    expect(on.open.offences).toEqual([]);
  });
});
