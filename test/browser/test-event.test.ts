import { expect, it } from "vitest";
import { describeOnStage } from "./support/on-stage.js";
import { violations } from "./support/violations.js";

describeOnStage("a test event of another type, to another listener", (on) => {
  it("is chosen in a dialog, signed as the listener demands, and opened when it has come in", async () => {
    const { page } = on.open;
    await page.locator(".empty").waitFor();
    const dialog = page.getByRole("dialog", { name: "Send a test event" });
    await page.getByRole("button", { name: "Another test event" }).click();
    await dialog.getByLabel("Listener").selectOption("lst_tokens");
    await dialog.getByLabel("Event").selectOption("device.lost");
    expect(await dialog.getByLabel("Body").inputValue()).toContain('"deviceId": "dev_42"');
    expect(await violations(page, "dialog")).toEqual([]);
    await dialog.getByRole("button", { name: "Sign and send" }).click();
    await page.getByText("Test event to lst_tokens: 200").waitFor();
    await expect.poll(() => page.locator("#row-1").textContent()).toMatch(/device\.lost.*test event.*JWT/);
  });

  it("a body of one's own is sent as it is; what is no JSON is not", async () => {
    const { page } = on.open;
    const dialog = page.getByRole("dialog", { name: "Send a test event" });
    await page.getByRole("button", { name: "Another test event" }).click();
    await dialog.getByLabel("Body").fill('{"type":"mine", "n": 1.0');
    await dialog.getByRole("button", { name: "Sign and send" }).click();
    await dialog.getByText("The body is no JSON").waitFor();
    await dialog.getByLabel("Body").fill('{"type":"mine", "n": 1.0}');
    await dialog.getByRole("button", { name: "Sign and send" }).click();
    await dialog.waitFor({ state: "detached" });
    await expect.poll(() => page.locator("#row-2").textContent()).toContain("mine");
    for (const width of [320, 2560]) {
      await page.setViewportSize({ width, height: 800 });
      expect(await violations(page)).toEqual([]);
      expect(await page.evaluate("document.body.scrollWidth - innerWidth")).toBeLessThanOrEqual(0);
    }
    expect(on.open.offences).toEqual([]);
  });
});
