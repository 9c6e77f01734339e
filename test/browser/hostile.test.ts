import { randomBytes } from "node:crypto";
import { SignJWT } from "jose";
import { expect, it } from "vitest";
import { exchange } from "../kit/loopback.js";
import { describeOnStage } from "./support/on-stage.js";

const EVIL = `"><img src=x onerror=alert(1)><script>alert(2)</script>{{7*7}}\${7*7}`;
const STEERING = "\u202etxt.exe\u202c \u200b\u0007";

describeOnStage("whatever a stranger sends stays text", (on) => {
  let sent = 0;

  /** Sends a request as it is, opens it, and looks at it in every way there is. */
  async function look(
    headers: Record<string, string>,
    body: string | Uint8Array,
    url = on.stage.url,
  ): Promise<string> {
    await exchange(url, { method: "POST", url, headers, body });
    sent++;
    const { page } = on.open;
    const row = page.locator(`#row-${sent}`);
    await row.waitFor();
    await row.click();
    await page.locator(".summary", { hasText: `#${sent} ` }).waitFor();
    for (const name of await page.locator("details > summary").all()) await name.click();
    for (const view of ["raw", "hex", "pretty"]) {
      const tab = page.getByRole("tab", { name: view });
      await tab.click();
    }
    await page.keyboard.press("c");
    await page.keyboard.press("Escape");
    // Nothing of it became an element: the page itself has one picture and one script, and frames nothing.
    const strangers = page.locator(
      "body :is(script, iframe, object, embed, base, img:not([src='./icon.svg']))",
    );
    expect(await strangers.count()).toBe(0);
    expect(on.open.offences).toEqual([]);
    return (await page.locator("article").textContent()) ?? "";
  }

  it("markup in every header, the id, the body and the target", async () => {
    const shown = await look(
      {
        "Content-Type": EVIL,
        "Webhook-Event-Id": EVIL,
        "Webhook-Timestamp": EVIL,
        "Webhook-Signature": EVIL,
        "X-Evil": EVIL,
      },
      JSON.stringify({ [EVIL]: EVIL }),
      `${on.stage.url}?q=${encodeURIComponent(EVIL)}`,
    );
    expect(shown).toContain("<img src=x onerror=alert(1)>");
    await expect.poll(() => on.open.page.locator(`#row-${sent}`).textContent()).toContain('"><img s');
  });

  it("markup in kid and claims of a token", async () => {
    const token = await new SignJWT({ sub: EVIL, aud: EVIL, jti: EVIL, htm: EVIL, [EVIL]: { deep: EVIL } })
      .setProtectedHeader({ alg: "HS256", kid: EVIL })
      .sign(randomBytes(32));
    const headers = {
      "Content-Type": "application/json",
      "Webhook-Event-Id": "0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10",
      "Webhook-Timestamp": String(Math.floor(Date.now() / 1000)),
      Authorization: `Bearer ${token}`,
    };
    expect(await look(headers, "{}", on.stage.tokensUrl)).toContain("<script>alert(2)</script>");
  });

  it("characters that hide or turn text around are shown by name", async () => {
    const shown = await look({ "Content-Type": "application/json" }, JSON.stringify({ name: STEERING }));
    for (const name of ["U+202E", "U+202C", "U+200B"]) expect(shown).toContain(name);
    expect(shown).not.toMatch(/[\u202e\u202c\u200b]/);
  });

  it.each<[string, string | Uint8Array]>([
    ["random bytes", randomBytes(2_000)],
    ["64 KB", JSON.stringify({ text: "x".repeat(65_000) })],
    ["64 KB of many members", JSON.stringify(Array.from({ length: 9_000 }, (_, n) => n))],
    ["too many bytes", "x".repeat(70_000)],
    ["brackets nested 30,000 deep", "[".repeat(30_000) + "]".repeat(30_000)],
    ["half a character", new Uint8Array([0x22, 0xc3, 0x22])],
    ["nothing", ""],
  ])("a body of %s", async (_what, body) => {
    await look({ "Content-Type": "application/json" }, body);
  });
});
