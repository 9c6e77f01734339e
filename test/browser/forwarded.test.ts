import { createEvent, hmacSigner, signRequest } from "hookproof";
import { createInspector, startInspector, startListeners } from "hookproof-service";
import { expect, it, onTestFinished } from "vitest";
import type { Forwarded } from "../../service/src/inspector/contract.js";
import { exchange } from "../kit/loopback.js";
import { describeInBrowser, openPage } from "./support/chromium.js";
import { SECRET } from "./support/stage.js";
import { violations } from "./support/violations.js";

describeInBrowser("what the application behind the listener answered", (browser) => {
  async function opened(...answers: Forwarded[]) {
    const inspector = await createInspector();
    const server = await startListeners({
      inspector,
      listeners: (baseUrl) => [
        { listener: { id: "lst_1", baseUrl, auth: { method: "hmac", secret: SECRET } } },
      ],
      onHandled: ({ request }) => inspector.forwarded(request, answers.shift() as Forwarded),
    });
    const page = await startInspector(inspector, { port: 0 });
    onTestFinished(async () => {
      await Promise.all([page.stop(), server.stop()]);
    });
    const url = `${server.url}/api/v1/webhooks/incoming/lst_1`;
    const signer = hmacSigner({ secret: SECRET });
    while (answers.length > 0)
      await exchange(url, await signRequest({ url, signer, event: createEvent({ type: "user.left" }) }));
    return openPage(browser(), page.pageUrl);
  }

  it("stands in the row and in a card: accepted here, refused there", async () => {
    const { page, context, offences } = await opened(
      { url: "http://127.0.0.1:3000/hook", status: 200, body: "ok", ms: 3 },
      { url: "http://127.0.0.1:3000/hook", status: 401, body: "<b>Unauthenticated.</b>", ms: 12 },
      { url: "http://127.0.0.1:3000/hook", error: "connection refused" },
    );
    const card = page.locator(".forwarded-to");
    await page.locator("#row-2").click();
    await expect.poll(() => card.textContent()).toContain("→ 401 in 12 ms");
    const text = await card.textContent();
    expect(text).toContain("http://127.0.0.1:3000/hook");
    expect(text).toContain("This listener accepts it; your application refuses it.");
    expect(text).toContain("<b>Unauthenticated.</b>");
    expect(await page.locator("#row-2").textContent()).toContain("application: 401");
    expect(await violations(page)).toEqual([]);

    await page.locator("#row-1").click();
    await expect.poll(() => card.textContent()).toContain("→ 200 in 3 ms");
    expect(await card.textContent()).not.toContain("refuses");
    await page.locator("#row-3").click();
    await expect.poll(() => card.textContent()).toContain("No answer: connection refused");
    expect(await page.locator("#row-3").textContent()).toContain("application: no answer");
    expect(offences).toEqual([]);
    await context.close();
  });
});
