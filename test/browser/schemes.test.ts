import { createHmac } from "node:crypto";
import {
  generateStandardSecret,
  standardWebhooksSigner,
  standardWebhooksVerifier,
} from "hookproof/standard-webhooks";
import { createInspector, startInspector, startListeners } from "hookproof-service";
import { expect, it } from "vitest";
import { exchange } from "../kit/loopback.js";
import { describeInBrowser, openPage } from "./support/chromium.js";
import { violations } from "./support/violations.js";

describeInBrowser("a request of another scheme", (browser) => {
  it("shows what was signed, and the signature that was expected next to the one that came", async () => {
    const secret = generateStandardSecret();
    const inspector = await createInspector();
    const listeners = await startListeners({
      inspector,
      port: 0,
      listeners: () => [
        {
          id: "lst_1",
          verifier: standardWebhooksVerifier({ secrets: secret }),
          secrets: [secret],
          signer: standardWebhooksSigner({ secrets: secret }),
        },
      ],
    });
    const server = await startInspector(inspector, { port: 0 });
    const url = `${listeners.url}/api/v1/webhooks/incoming/lst_1`;
    const [time, body] = [String(Math.floor(Date.now() / 1000)), '{"type": "a"}'];
    const by = (key: string | Buffer) =>
      `v1,${createHmac("sha256", key).update(`msg_1.${time}.${body}`).digest("base64")}`;
    const headers = { "webhook-id": "msg_1", "webhook-timestamp": time, "webhook-signature": by(secret) };
    const [status] = await exchange(url, { method: "POST", url, headers, body: Buffer.from(body) });
    expect(status).toBe(401);

    const { page, context, offences } = await openPage(browser(), server.pageUrl);
    const card = page.getByRole("region", { name: "Signature" });
    await expect
      .poll(() => card.getByLabel("Signing input").textContent())
      .toBe(`msg_1.${time}.${body.replace(" ", "·")}`);
    expect(await card.locator(".comparison dd").allTextContents()).toEqual([
      by(Buffer.from(secret.slice("whsec_".length), "base64")),
      by(secret),
    ]);
    expect(await card.textContent()).toContain("The check “signature” failed.");
    for (const width of [1280, 375]) {
      await page.setViewportSize({ width, height: 800 });
      expect(await violations(page)).toEqual([]);
    }
    expect(offences).toEqual([]);
    await context.close();
    await server.stop();
    await listeners.stop();
  });
});
