import { createEvent, hmacSigner, signRequest } from "hookproof";
import { createInspector, startInspector, startListeners } from "hookproof-service";
import { expect, it, onTestFinished } from "vitest";
import type { Forwarded } from "../../service/src/inspector/contract.js";
import { exchange } from "../kit/loopback.js";
import { describeInBrowser, openPage } from "./support/chromium.js";
import { SECRET } from "./support/stage.js";
import { violations } from "./support/violations.js";

describeInBrowser("what the application behind the listener answered", (browser) => {
  /** A listener whose answer is the application's, as `listen --forward-to` has it. */
  async function opened(...answers: Forwarded[]) {
    const inspector = await createInspector();
    const given = new WeakMap<object, Forwarded>();
    const server = await startListeners({
      inspector,
      listeners: (baseUrl) => [
        {
          listener: { id: "lst_1", baseUrl, auth: { method: "hmac", secret: SECRET } },
          run: async (_event, _reservation, request) => {
            const answer = answers.shift() as Forwarded;
            given.set(request, answer);
            inspector.forwarded(request, answer);
            if (!("status" in answer && answer.status < 300)) throw new Error("the application refuses it");
          },
          beforeAnswer(answer, request) {
            const forwarded = given.get(request);
            return forwarded && "status" in forwarded ? { ...answer, status: forwarded.status } : answer;
          },
        },
      ],
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
      { url: "http://127.0.0.1:3000/hook", status: 204, body: "", ms: 3 },
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
    expect(await page.locator("#row-2").textContent()).toMatch(
      /Your application refused it.*application: 401/,
    );
    expect(await page.locator("#verdict").textContent()).toBe("Your application refused it.");
    expect(await violations(page)).toEqual([]);

    await page.locator("#row-1").click();
    await expect.poll(() => card.textContent()).toContain("→ 204 in 3 ms");
    expect(await card.textContent()).not.toContain("refuses");
    await page.locator("#row-3").click();
    await expect.poll(() => card.textContent()).toContain("No answer: connection refused");
    expect(await page.locator("#row-3").textContent()).toMatch(
      /Your application did not answer.*application: no answer/,
    );
    // Nobody has set an answer: each is the application's, or the listener's own.
    expect(await page.locator("body").textContent()).not.toMatch(/forced/);
    expect(offences).toEqual([]);
    await context.close();
  });
});
