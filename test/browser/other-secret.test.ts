import { createHash, createHmac, randomBytes } from "node:crypto";
import type { SignedRequest } from "hookproof";
import { expect, it } from "vitest";
import { describeOnStage } from "./support/on-stage.js";
import { SECRET } from "./support/stage.js";
import { violations } from "./support/violations.js";

const OTHER = randomBytes(32).toString("base64url");

const signedWith =
  (key: string | Buffer, userAgent: string) =>
  ({ headers, timestamp, eventId, body }: SignedRequest): Partial<SignedRequest> => {
    const signature = createHmac("sha256", key).update(`${timestamp}.${eventId}.`).update(body);
    return {
      headers: { ...headers, "User-Agent": userAgent, "Webhook-Signature": signature.digest("base64url") },
    };
  };

describeOnStage("a refused request: its fix by language, and another secret", (on) => {
  it("the fix is in the sender's language first, and in others by their tabs", async () => {
    const { page } = on.open;
    const decoded = signedWith(Buffer.from(SECRET, "base64url"), "python-requests/2.32.3");
    expect(await on.stage.send(undefined, decoded)).toBe(401);
    await page.locator("#row-1").click();
    const tabs = page.getByRole("tablist", { name: "Fix of secret-base64url-decoded by language" });
    await expect.poll(() => tabs.getByRole("tab").first().textContent()).toBe("Python");
    const panel = page.getByRole("tabpanel", { name: "Python" });
    expect(await panel.textContent()).toContain("hmac.new(secret.encode(), message, 'sha256')");
    const [above, below] = await Promise.all([tabs.boundingBox(), panel.boundingBox()]);
    expect(below?.y).toBeGreaterThanOrEqual((above?.y ?? 0) + (above?.height ?? 0));
    await tabs.getByRole("tab", { name: "Go" }).click();
    expect(await page.getByRole("tabpanel", { name: "Go" }).textContent()).toContain("[]byte(secret)");
    await page.keyboard.press("ArrowLeft");
    await page.getByRole("tabpanel", { name: "Java", exact: true }).waitFor();
    expect(await violations(page)).toEqual([]);
  });

  it("a secret is tried in the page, by its text and by the forms that people make of it", async () => {
    const { page } = on.open;
    const sent: string[] = [];
    page.on("request", (request) => sent.push(`${request.url()} ${request.postData() ?? ""}`));
    expect(await on.stage.send(undefined, signedWith(`${OTHER}\n`, "curl/8.5.0"))).toBe(401);
    await page.locator("#row-2").click();
    await page.locator(".summary .note", { hasText: "#2 " }).waitFor();
    await page.getByText("Try another secret").click();
    const status = page.locator(".try-secret [role=status]");
    await page.getByLabel("Secret", { exact: true }).fill(SECRET);
    await page.keyboard.press("Enter");
    await expect.poll(() => status.textContent()).toContain("was not signed with this secret");
    await page.getByLabel("Secret", { exact: true }).fill(OTHER);
    await page.keyboard.press("Enter");
    await expect
      .poll(() => status.textContent())
      .toContain("The request was signed with this secret and a line break behind it.");
    expect(await violations(page)).toEqual([]);

    const kept = await page.evaluate<string>(
      "JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href, document.title])",
    );
    for (const text of [kept, ...sent, await page.content()]) expect(text).not.toContain(OTHER);
    for (const n of [1, 2]) {
      await page.locator(`#row-${n}`).click();
      await page.locator(".summary .note", { hasText: `#${n} ` }).waitFor();
    }
    await page.getByText("Try another secret").click();
    expect(await page.getByLabel("Secret", { exact: true }).inputValue()).toBe("");
    expect(on.open.offences).toEqual([]);
  });

  it("where no mistake explains it, what to compare is a table to copy from", async () => {
    const { page } = on.open;
    const body = new TextEncoder().encode('{"a":1}');
    const change = (request: SignedRequest) => ({
      ...signedWith(OTHER, "curl/8.5.0")({ ...request, body }),
      body,
    });
    expect(await on.stage.send(undefined, change)).toBe(401);
    await page.locator("#row-3").click();
    await page.getByText("No known mistake explains the signature").waitFor();
    const rows = await page.locator(".to-compare div").allTextContents();
    const sha256 = createHash("sha256").update(body).digest("hex");
    expect(rows.slice(0, 3)).toEqual([
      "Secret's fingerprintsha256:02d243df",
      `SHA-256 of the body${sha256}`,
      "Bytes of the body7",
    ]);
    expect(rows[3]).toMatch(/^Webhook-Timestamp\d{10}$/);
    expect(rows[4]).toMatch(/^Webhook-Event-Id[0-9a-f-]{36}$/);
    await page.getByRole("button", { name: "Copy: SHA-256 of the body" }).click();
    await page.getByText("Copied: SHA-256 of the body").waitFor();
    expect(await page.evaluate("navigator.clipboard.readText()")).toBe(sha256);
    // The values stand in the table and not in the sentences.
    const said = await page.locator(".mistakes :is(.fix, .tried)").allTextContents();
    expect(said.join(" ")).toMatch(
      /Send these to somebody who helps.*What was tried: \d+ mistakes in the secret/,
    );
    expect(said.join(" ")).not.toContain(sha256);
    for (const width of [320, 1280]) {
      await page.setViewportSize({ width, height: 800 });
      expect(await violations(page)).toEqual([]);
      expect(await page.evaluate("document.body.scrollWidth - innerWidth")).toBeLessThanOrEqual(0);
    }
    expect(on.open.offences).toEqual([]);
  });
});
