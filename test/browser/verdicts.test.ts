import { hmacSigner } from "hookproof";
import { expect, it } from "vitest";
import { rowsWith } from "./support/chromium.js";
import { describeOnStage } from "./support/on-stage.js";
import { SECRET, withDecodedSecret } from "./support/stage.js";

const ID = "0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10";

describeOnStage("a request appears as it arrives", (on) => {
  const detail = () => on.open.page.locator("article");
  let sent = 0;
  /** Opens the request that was just sent. In the long form its row has a second to appear. */
  async function newest(status: number): Promise<void> {
    sent++;
    const row = on.open.page.locator(`#row-${sent}`);
    await row.waitFor(process.env.HOOKPROOF_LONG ? { timeout: 1_000 } : {});
    await row.click();
    await detail()
      .locator(".summary", { hasText: `#${sent} ` })
      .waitFor();
    await expect.poll(() => detail().locator(".summary .badge").textContent()).toBe(String(status));
  }

  it("nothing yet: the page says what to type", async () => {
    const empty = on.open.page.locator(".empty");
    await empty.waitFor();
    expect(await empty.textContent()).toContain(`hookproof send :${new URL(on.stage.url).port} --data`);
  });

  it("200, with every check passed and the run", async () => {
    expect(await on.stage.sendTo(on.stage.url, hmacSigner({ secret: SECRET }), { eventId: ID })).toBe(200);
    await newest(200);
    const checks = detail().locator(".checks li");
    await detail().getByText("All 15 checks passed").click();
    await expect.poll(() => checks.count()).toBe(15);
    await expect.poll(() => detail().locator(".checks li:not(.passed)").count()).toBe(0);
    await expect.poll(() => detail().locator(".checks li b").first().textContent()).toBe("listener");
    await expect.poll(() => detail().getByRole("heading", { name: "Run" }).count()).toBe(1);
  });

  it("409, with the diff to the first delivery", async () => {
    const other = { type: "user.offboarded", userId: "u_124" };
    expect(
      await on.stage.sendTo(on.stage.url, hmacSigner({ secret: SECRET }), { eventId: ID, payload: other }),
    ).toBe(409);
    await newest(409);
    await expect
      .poll(() => detail().locator(".diff-first").allTextContents())
      .toEqual(['−   "userId": "u_123"']);
    await expect
      .poll(() => detail().locator(".diff-this").allTextContents())
      .toEqual(['+   "userId": "u_124"']);
    await expect.poll(() => detail().locator(".checks .failed b").allTextContents()).toEqual(["replay"]);
  });

  it("401, with the mistake in words and the signatures side by side", async () => {
    expect(await on.stage.send(undefined, withDecodedSecret)).toBe(401);
    await newest(401);
    await expect
      .poll(() => detail().locator(".mistakes .message").first().textContent())
      .toBe("It matches if the secret is base64url-decoded first. The key is the string itself.");
    const [expected, received] = await detail().locator(".comparison dd").allTextContents();
    expect(expected).toHaveLength(43);
    expect(received).toHaveLength(43);
    expect(expected).not.toBe(received);
    // Where they begin to differ means nothing, so nothing points there.
    expect(await detail().locator(".comparison mark").count()).toBe(0);
    await detail().getByText("5 not reached").click();
    await expect.poll(() => detail().locator(".checks .not-reached").count()).toBe(5);
  });

  it("the signing input with everything visible that is in it", async () => {
    expect(await on.stage.send("[1,  2,\n\t3]")).toBe(200);
    await newest(200);
    const canonical = await detail().getByLabel("Signing input").textContent();
    expect(canonical).toMatch(/^\d{10}\.[0-9a-f-]{36}\.\[1,··2,⏎\n→\t3\]$/);
  });

  it("403 for an address that is not allowed", async () => {
    expect(await on.stage.sendTo(on.stage.strictUrl, hmacSigner({ secret: SECRET }))).toBe(403);
    await newest(403);
    await expect.poll(() => detail().locator(".checks .failed b").allTextContents()).toEqual(["source"]);
  });

  it("400 for a stale timestamp", async () => {
    const timestamp = Math.floor(Date.now() / 1000) - 301;
    expect(await on.stage.sendTo(on.stage.url, hmacSigner({ secret: SECRET }), { timestamp })).toBe(400);
    await newest(400);
    await expect.poll(() => detail().locator(".checks .failed b").allTextContents()).toEqual(["window"]);
  });

  it("a token, taken apart, with what was required and the key that was used", async () => {
    expect(await on.stage.sendTo(on.stage.tokensUrl, on.stage.tokenSigner)).toBe(200);
    await newest(200);
    const row = (name: string) => detail().locator("tbody tr", { hasText: name });
    await expect.poll(() => row("htm").locator("td").allTextContents()).toEqual(['"POST"']);
    await expect
      .poll(() => row("aud").locator("td").first().textContent())
      .toBe(JSON.stringify(on.stage.tokensUrl));
    await expect.poll(() => detail().locator(".facts dd").first().textContent()).toContain("key-1");
    await detail().getByText("Header and payload").click();
    await expect.poll(() => detail().getByLabel("Token header").textContent()).toContain('"alg": "ES256"');
  });

  it("a request that no listener has the path of", async () => {
    await fetch(`${new URL(on.stage.url).origin}/api/v1/webhooks/incoming/lst_other`, {
      method: "POST",
      body: "{}",
    });
    await newest(404);
    await expect.poll(() => detail().locator(".checks .failed b").allTextContents()).toEqual(["listener"]);
  });

  it("and all that without a word to anybody else, and without an error", () => {
    expect(on.open.offences).toEqual([]);
  });

  it("search, statuses: the list is narrowed", async () => {
    const { page } = on.open;
    await page.getByLabel("Search").fill("decoded first");
    await page.locator(".row").nth(1).waitFor({ state: "detached" });
    await expect.poll(() => page.locator(".row .badge").allTextContents()).toEqual(["401"]);
    await page.getByLabel("Search").fill("");
    await page.getByRole("button", { name: /^403/ }).click();
    await expect.poll(() => page.locator(".row .badge").allTextContents()).toEqual(["403"]);
    await page.getByRole("button", { name: /^All/ }).click();
    await expect.poll(() => page.locator(".row").count()).toBeGreaterThan(5);
  });

  it("the body pretty, raw and in hex", async () => {
    const { page } = on.open;
    await rowsWith(page, "409").click();
    const body = detail().getByRole("tabpanel");
    await body.getByText('"u_124"').waitFor();
    await detail().getByRole("tab", { name: "raw" }).click();
    await expect.poll(() => body.textContent()).toBe('{"type":"user.offboarded","userId":"u_124"}');
    await page.keyboard.press("ArrowRight");
    await expect.poll(() => body.textContent()).toContain("00000000  7b 22 74 79 70 65 22 3a");
  });
});
