import { createSender, hmacSigner } from "hookproof";
import { expect, it, onTestFinished } from "vitest";
import { inspectedService } from "../kit/inspected-service.js";
import { describeInBrowser, openPage } from "./support/chromium.js";
import { violations } from "./support/violations.js";

describeInBrowser("an automation's run in the inspector", (browser) => {
  it("is repeated step by step: what each expression gave, and which part of one failed on what", async () => {
    const steps = [
      { name: "count", templates: { n: "{{ size(ctx.trigger.tags) }}" } },
      { name: "name", templates: { name: "{{ ctx.trigger.user.name }}" } },
    ];
    const { service, page, stop } = await inspectedService();
    onTestFinished(stop);
    const made = await fetch(`${service.url}/local/v1/automations`, {
      method: "POST",
      headers: { Authorization: `Bearer ${service.controlToken}`, "Content-Type": "application/json" },
      body: JSON.stringify({ trigger: { hmac: {} }, steps }),
    });
    const { automation, signingSecret } = (await made.json()) as {
      automation: { listenerUrl: string };
      signingSecret: string;
    };
    const sender = createSender({
      url: automation.listenerUrl,
      signer: hmacSigner({ secret: signingSecret }),
    });
    await sender.send({ tags: [1, 2], user: { id: "u_1" } });

    const open = await openPage(browser(), page.pageUrl);
    onTestFinished(() => open.context.close());
    await open.page.locator("[id^=row-]").first().click();
    await open.page.getByRole("button", { name: "Run step by step" }).click();
    const run = open.page.getByRole("list", { name: "Step by step" });
    await run.waitFor();
    const [count = "", name = ""] = await run.getByRole("listitem").allTextContents();
    expect(count).toMatch(/^count succeeded.*templates\.n/);
    expect(count).toContain("1:17  ctx.trigger.tags  is  [1,2]");
    expect(count).toContain("gave  2");
    expect(name).toMatch(/^name failed.*templates\.name/);
    expect(name).toContain("FIELD_MISSING  field not found: name");
    expect(name).toContain('where  ctx.trigger.user  is  {"id":"u_1"}');
    expect(await violations(open.page)).toEqual([]);
    expect(open.offences).toEqual([]);
  });
});
