import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { CONFIG_PATH as CONFIG, type InspectedService, inspectedService } from "../kit/inspected-service.js";
import { describeInBrowser, openPage } from "./support/chromium.js";
import { violations } from "./support/violations.js";

describeInBrowser("the control of the service", (browser) => {
  let stage: InspectedService;

  beforeAll(async () => {
    stage = await inspectedService();
  });
  afterAll(() => stage.stop());
  beforeEach(() => stage.service.reset());

  const call = async (method = "GET") => {
    const headers = { Authorization: `Bearer ${await stage.service.token()}` };
    return (await fetch(stage.service.url + CONFIG, { method, headers })).status;
  };
  const open = async (look = {}) => {
    const opened = await openPage(browser(), `${stage.page.pageUrl}&n=calls`, look);
    await opened.page.getByRole("button", { name: "Control the service" }).click();
    await opened.page.getByText("Every operation works.").waitFor();
    return { ...opened, form: (name: string) => opened.page.getByRole("form", { name }) };
  };

  it("lets an operation fail, and takes it back", async () => {
    const { page, context, form, offences } = await open();
    await form("Faults").getByLabel("Operation").selectOption("getAuthConfig");
    await form("Faults").getByLabel("How many requests").fill("2");
    await form("Faults").getByRole("button", { name: "Set the fault" }).click();
    await page.getByText('{"status":503,"times":2}').waitFor();
    expect([await call(), await call(), await call()]).toEqual([503, 503, 200]);
    await form("Faults").getByLabel("What goes wrong").selectOption("one after another");
    await form("Faults").getByLabel("Statuses").fill("429, ok, cut");
    await page.keyboard.press("Enter");
    await page.getByText('{"sequence":[{"status":429},{},{"disconnect":true}]}').waitFor();
    expect(await call()).toBe(429);
    await page.getByRole("button", { name: "Take back the fault of getAuthConfig" }).click();
    await page.getByText("Every operation works.").waitFor();
    expect([await call(), await call()]).toEqual([200, 200]);
    expect(offences).toEqual([]);
    await context.close();
  });

  it("moves and stops the clock, and says why it cannot", async () => {
    const { page, context, form, offences } = await open();
    await form("Clock").getByLabel("Set it to").fill("2030-01-01T00:00:00Z");
    await form("Clock").getByRole("button", { name: "Set" }).click();
    await page.getByText(/^2030-01-01T00:00:/).waitFor();
    await form("Clock").getByRole("button", { name: "Stop it" }).click();
    await page.getByText("stopped").waitFor();
    await form("Clock").getByRole("button", { name: "Move" }).click();
    await page.getByText(/^2030-01-01T01:00:/).waitFor();
    const date = (await fetch(`${stage.service.url}/healthz`)).headers.get("date");
    expect(date).toMatch(/^Tue, 01 Jan 2030 01:00:/);
    await form("Clock").getByLabel("Set it to").fill("tomorrow");
    await page.keyboard.press("Enter");
    await page.getByRole("alert").waitFor();
    expect(offences).toEqual([]);
    await context.close();
  });

  it("saves and restores the state, and resets all at the second click", async () => {
    const { page, context, form, offences } = await open();
    await form("Snapshots").getByLabel("Name").fill("full");
    await form("Snapshots").getByRole("button", { name: "Save" }).click();
    await page.getByRole("button", { name: "Restore full" }).waitFor();
    await call("DELETE");
    await page.getByRole("button", { name: "Restore full" }).click();
    await expect.poll(() => call()).toBe(200);
    await call("DELETE");
    await page.getByRole("button", { name: "Reset …" }).click();
    expect(await call()).toBe(404);
    await page.getByRole("button", { name: "Yes, lose all changes" }).click();
    await expect.poll(() => call()).toBe(200);
    await page.getByRole("button", { name: "Remove full" }).click();
    await page.getByRole("button", { name: "Restore full" }).waitFor({ state: "detached" });
    expect(offences).toEqual([]);
    await context.close();
  });

  it.each([
    ["wide", {}],
    ["in the dark", { dark: true }],
    ["at 375 px", { wide: false }],
  ])("axe finds nothing, %s", async (_where, look) => {
    stage.service.setFault("getAuthConfig", { body: { text: "x".repeat(200) }, status: 503 });
    const { page, context } = await openPage(browser(), `${stage.page.pageUrl}&n=calls`, look);
    await page.getByRole("button", { name: "Control the service" }).click();
    await page.getByText("xxxx").waitFor();
    expect(await violations(page)).toEqual([]);
    expect(await page.evaluate("document.body.scrollWidth - innerWidth")).toBeLessThanOrEqual(0);
    expect(
      await page.evaluate("(box => box.scrollWidth - box.clientWidth)(document.querySelector('dialog'))"),
    ).toBeLessThanOrEqual(0);
    await context.close();
  });
});
