import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { CONFIG_PATH as CONFIG, type InspectedService, inspectedService } from "../kit/inspected-service.js";
import { describeInBrowser, openPage, rowsWith } from "./support/chromium.js";
import { cutTexts } from "./support/cut-texts.js";
import { violations } from "./support/violations.js";

describeInBrowser("the calls of the API", (browser) => {
  let stage: InspectedService;

  beforeAll(async () => {
    stage = await inspectedService({
      users: [{ id: "ada", displayName: "Ada" }],
      authConfigs: [{ id: "ac_1", displayName: "Staff" }],
    });
  });
  afterAll(() => stage.stop());

  const call = async (path: string, init: RequestInit = {}) => {
    const headers = { Authorization: `Bearer ${await stage.service.token()}`, ...init.headers };
    return (await fetch(stage.service.url + path, { ...init, headers })).text();
  };
  const opened = (page: Page) => page.locator(".summary h2").textContent();
  const open = (look = {}) => openPage(browser(), `${stage.page.pageUrl}&n=calls`, look);

  it("have a view next to the webhooks, which says first how to make one", async () => {
    const { page, context, offences } = await openPage(browser(), stage.page.pageUrl);
    await page.getByRole("heading", { name: "Nothing has been received yet." }).waitFor();
    await page.getByRole("link", { name: "API calls 0" }).click();
    await page.getByRole("heading", { name: "The API has not been called yet." }).waitFor();
    expect(await violations(page)).toEqual([]);
    await page.keyboard.press("v");
    await page.getByRole("heading", { name: "Nothing has been received yet." }).waitFor();
    expect(offences).toEqual([]);
    await context.close();
  });

  it("appear as they are answered, with method, path, status, time and client", async () => {
    const { page, context, offences } = await open();
    await page.getByRole("heading", { name: "The API has not been called yet." }).waitFor();
    await call(CONFIG);
    const row = rowsWith(page, "200").first();
    await row.waitFor();
    expect(await row.textContent()).toMatch(
      /GET \/api\/v1\/auth-configs\/ac_1.*getAuthConfig\d+ msminted:super-admin:/,
    );
    expect(await cutTexts(page)).toEqual([]);
    await call(`${CONFIG}0`);
    await rowsWith(page, "404").waitFor();
    await fetch(stage.service.url + CONFIG);
    await rowsWith(page, "401").waitFor();
    await page.getByRole("link", { name: "API calls 3" }).waitFor();
    expect(offences).toEqual([]);
    await context.close();
  });

  it("show request and answer, and no secret of either", async () => {
    const client = { grant_type: "client_credentials", client_id: stage.service.clientId };
    const body = new URLSearchParams({ ...client, client_secret: stage.service.clientSecret });
    const answer = await fetch(`${stage.service.url}/auth/v1/token?client_secret=in-the-query`, {
      method: "POST",
      body,
    });
    const { access_token } = (await answer.json()) as { access_token: string };
    await call(CONFIG, { headers: { Authorization: `Bearer ${access_token}`, Cookie: "id=of-a-session" } });
    const { page, context, offences } = await open();
    await page.locator(".summary h2", { hasText: "getAuthConfig" }).waitFor();
    expect(await page.locator("article").textContent()).toContain("AuthorizationBearer [hidden]");
    await page.keyboard.press("j");
    await page.locator(".summary h2", { hasText: "createToken" }).waitFor();
    const text = await page.locator("article").textContent();
    expect(text).toContain('"client_secret": "[hidden]"');
    expect(text).toContain('"access_token": "[hidden]"');
    expect(text).toContain("client_secret=[hidden]");
    const kept = JSON.stringify(stage.inspector.calls().rows.map(({ n }) => stage.inspector.call(n)));
    for (const secret of [stage.service.clientSecret, access_token, "in-the-query", "of-a-session"])
      expect(kept).not.toContain(secret);
    expect(offences).toEqual([]);
    await context.close();
  });

  it("are copied as curl, which asks for a token of its own", async () => {
    await call(CONFIG);
    const { page, context } = await open();
    await page.locator(".summary h2", { hasText: "getAuthConfig" }).waitFor();
    await page.getByText("To make this call again, copy it as curl: tokens are not kept").waitFor();
    await page.getByRole("button", { name: "Copy as curl" }).click();
    await page.getByText("Copied: curl").waitFor();
    const command = await page.evaluate<string>("navigator.clipboard.readText()");
    expect(command).toContain(`hookproof service token --base-url ${stage.service.url})`);
    expect(command).not.toContain("[hidden]");
    // In the command's place something that prints a token.
    const program = `hookproof() { [ "$*" = "service token --base-url ${stage.service.url}" ] && echo "$TOKEN"; }\n${command}`;
    const env = { ...process.env, TOKEN: await stage.service.token() };
    const { stdout } = await promisify(execFile)("bash", ["-c", program], { env });
    expect(stdout).toMatch(/^HTTP\/1\.1 200 [\s\S]*"displayName":"Staff"/);
    // A form is not kept as it was sent. A click on a row that moves would hit another one.
    const forms = page.locator(".row", { hasText: "createToken" });
    const before = await forms.count();
    await fetch(`${stage.service.url}/auth/v1/token`, {
      method: "POST",
      body: new URLSearchParams({ a: "b" }),
    });
    await expect.poll(() => forms.count()).toBe(before + 1);
    await forms.first().click();
    await page.locator(".summary h2", { hasText: "createToken" }).waitFor();
    expect(await page.getByRole("button", { name: "Copy as curl" }).count()).toBe(0);
    await page.getByText("This call cannot be made again from here: a form").waitFor();
    await context.close();
  });

  it("are found by any text, by client and by status", async () => {
    await call("/api/v1/apps/app_7/resource_types/rt?page_token=abc", {
      method: "POST",
      body: '{"updateMask":"needle"}',
      headers: { "Content-Type": "application/json" },
    });
    const { page, context } = await open();
    const count = () => page.locator(".row").count();
    await expect.poll(count).toBeGreaterThan(5);
    await page.getByLabel("Search").fill("NEEDLE");
    await expect.poll(count).toBe(1);
    await page.getByLabel("Search").fill("");
    await page.getByLabel("Client").selectOption(stage.service.clientId);
    await expect.poll(count).toBe(2);
    await page.getByLabel("Client").selectOption("");
    await page.getByRole("button", { name: /^401/ }).click();
    await expect.poll(count).toBe(1);
    await context.close();
  });

  it("are read with the keyboard alone", async () => {
    const { page, context, offences } = await open();
    const press = (key: string) => page.keyboard.press(key);
    await page.locator("article").waitFor();
    const newest = await opened(page);
    await press("j");
    await expect.poll(() => opened(page)).not.toBe(newest);
    await press("k");
    await expect.poll(() => opened(page)).toBe(newest);
    const wanted = await page.locator(".row", { hasText: "createToken" }).count();
    expect(await page.locator(".row").count()).toBeGreaterThan(wanted);
    await press("/");
    await page.keyboard.type("createToken");
    await expect.poll(() => page.locator(".row").count()).toBe(wanted);
    await press("Tab");
    while ((await page.evaluate<string>("document.activeElement.className")) !== "list") await press("Tab");
    await press("ArrowDown");
    await expect.poll(() => opened(page)).toBe("createToken");
    await press("?");
    await page.getByRole("heading", { name: "Keys" }).waitFor();
    await press("Escape");
    expect(offences).toEqual([]);
    await context.close();
  });

  it("stay inert, whatever a stranger sends", async () => {
    const evil = "<img src=x onerror=alert(1)>\u202e";
    await fetch(`${stage.service.url}/api/${encodeURIComponent(evil)}?<b>=1`, {
      headers: { "X-Evil": "<script>alert(1)</script>" },
    });
    await fetch(`${stage.service.url}/auth/v1/token`, {
      method: "POST",
      body: new URLSearchParams({ grant_type: "client_credentials", client_id: evil, client_secret: "x" }),
    });
    const { page, context, offences } = await open();
    await page.locator("article").waitFor();
    await page.keyboard.press("j");
    await page.getByRole("heading", { name: "No operation has this path and method" }).waitFor();
    expect(await page.locator("article img, article b b, article script").count()).toBe(0);
    expect(offences).toEqual([]);
    await context.close();
  });

  it("say what was set on purpose, and when the connection was cut", async () => {
    stage.service.setFault("getAuthConfig", { sequence: [{ status: 503 }, { disconnect: true }] });
    await call(CONFIG);
    await call(CONFIG).catch(() => {});
    const { page, context } = await open();
    await page.locator(".summary .badge", { hasText: "cut" }).waitFor();
    await page.keyboard.press("j");
    await page.locator(".summary .badge", { hasText: "503" }).waitFor();
    await page.locator(".remark", { hasText: "set on purpose" }).waitFor();
    await context.close();
  });

  it.each([
    ["wide", {}],
    ["in the dark", { dark: true }],
    ["at 375 px", { wide: false }],
  ])("axe finds nothing, %s", async (_where, look) => {
    const { page, context } = await open(look);
    await rowsWith(page, "401").first().waitFor();
    if ("wide" in look) expect(await violations(page)).toEqual([]);
    await rowsWith(page, "200").first().click();
    await page.locator("article").waitFor();
    expect(await violations(page)).toEqual([]);
    expect(await page.evaluate("document.body.scrollWidth - innerWidth")).toBeLessThanOrEqual(0);
    await context.close();
  });

  it("are cleared for the page, and stay in the service's journal", async () => {
    const { page, context } = await open();
    await page.getByRole("button", { name: "File" }).click();
    await page.getByRole("menuitem", { name: "Clear the list" }).click();
    await page.getByRole("button", { name: "Clear", exact: true }).click();
    await page.getByRole("heading", { name: "The API has not been called yet." }).waitFor();
    const answer = await fetch(`${stage.service.url}/local/v1/journal/search`, {
      method: "POST",
      headers: { Authorization: `Bearer ${stage.service.controlToken}`, "Content-Type": "application/json" },
      body: "{}",
    });
    expect(((await answer.json()) as { count: number }).count).toBeGreaterThan(5);
    expect(stage.inspector.calls().rows).toEqual([]);
    await context.close();
  });
});
