// Every kind of row at every width of the review, light and dark: what is there is whole.
import { createHmac } from "node:crypto";
import { createEvent, hmacSigner, jwtSigner, signRequest } from "hookproof";
import { createKeySet, generateKey, localKeys } from "hookproof/jwks";
import {
  generateStandardSecret,
  standardWebhooksSigner,
  standardWebhooksVerifier,
} from "hookproof/standard-webhooks";
import { createInspector, startInspector, startListeners } from "hookproof-service";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Forwarded } from "../../service/src/inspector/contract.js";
import { exchange } from "../kit/loopback.js";
import { describeInBrowser, openPage } from "./support/chromium.js";
import { SECRET, withDecodedSecret } from "./support/stage.js";
import { violations } from "./support/violations.js";

const WIDTHS = [320, 390, 768, 1024, 1280, 1440, 1920, 2560];
const TYPES = ["user.offboarded", "access.review.certification.campaign.completed"];

/** So that each row is drawn. */
const HEIGHT = 2_600;
const NOTE = "asked by the team of the payroll, who wait for it";

/** The facts that are seen in part, and the marks that are not seen. A reader's own note may be shortened. */
const FAULTS = `[...document.querySelectorAll(".row .facts > *")].flatMap((one) => {
  const [own, line] = [one.getBoundingClientRect(), one.parentElement.getBoundingClientRect()];
  const isSeen = one.checkVisibility() && own.top < line.bottom - 1;
  const isShort = !one.matches(".own") && one.scrollWidth > one.clientWidth + 1;
  const isOwed = one.matches(".own") || (one.matches(".origin") && !one.parentElement.querySelector(".own"));
  const isCut = own.right > line.right + 0.5 || own.bottom > line.bottom + 3 || isShort;
  return isSeen && isCut ? ["cut: " + one.textContent] : isOwed && !isSeen ? ["missing: " + one.textContent] : [];
})`;

describeInBrowser("the rows of the list", (browser) => {
  let pageUrl: string;
  const stops: (() => Promise<unknown>)[] = [];

  beforeAll(async () => {
    const key = await generateKey({ alg: "ES256", kid: "key-1" });
    const token = jwtSigner({ key: key.privateJwk, kid: key.kid, alg: key.alg });
    const keys = localKeys(await createKeySet([key]).publicJwks());
    const standard = generateStandardSecret();
    const answers = new WeakMap<object, Forwarded>();
    const inspector = await createInspector();
    const hmac = { method: "hmac", secret: SECRET } as const;
    const server = await startListeners({
      inspector,
      listeners: (baseUrl) => [
        { listener: { id: "lst_hmac", baseUrl, auth: hmac } },
        { listener: { id: "lst_strict", baseUrl, auth: hmac, allowedCidrs: ["203.0.113.0/24"] } },
        { listener: { id: "lst_jwt", baseUrl, auth: { method: "jwt", keys } }, signer: token },
        {
          id: "lst_standard",
          verifier: standardWebhooksVerifier({ secrets: standard }),
          secrets: [standard],
          signer: standardWebhooksSigner({ secrets: standard }),
        },
        {
          listener: { id: "lst_forward", baseUrl, auth: hmac },
          run: async (event, _reservation, request) => {
            const status = (event.payload as { status: number }).status;
            const url = "http://127.0.0.1:3000/hook";
            const answer = status === 0 ? { url, error: "refused" } : { url, status, body: "", ms: 7 };
            answers.set(request, answer);
            inspector.forwarded(request, answer);
            if (status !== 204) throw new Error("the application refuses it");
          },
          beforeAnswer(answer, request) {
            const given = answers.get(request);
            return given && "status" in given ? { ...answer, status: given.status } : answer;
          },
        },
      ],
    });
    const page = await startInspector(inspector, { port: 0 });
    stops.push(
      () => page.stop(),
      () => server.stop(),
    );
    pageUrl = page.pageUrl;

    const urlOf = (id: string) => `${server.url}/api/v1/webhooks/incoming/${id}`;
    const signer = hmacSigner({ secret: SECRET });
    const stale = Math.floor(Date.now() / 1000) - 900;
    for (const type of TYPES) {
      const payload = { type, userId: "u_123", grants: ["github:admin"] };
      const twice = createEvent(payload);
      const requests = await Promise.all([
        signRequest({ url: urlOf("lst_hmac"), signer, event: twice }),
        signRequest({ url: urlOf("lst_hmac"), signer, event: twice }),
        signRequest({ url: urlOf("lst_hmac"), signer, event: createEvent(payload), timestamp: stale }),
        signRequest({ url: urlOf("lst_strict"), signer, event: createEvent(payload) }),
        signRequest({ url: urlOf("lst_jwt"), signer: token, event: createEvent(payload) }),
        signRequest({ url: urlOf("lst_jwt"), signer, event: createEvent(payload) }),
        signRequest({ url: urlOf("lst_jwt"), signer: token, event: createEvent(payload), timestamp: stale }),
        signRequest({ url: urlOf("lst_other"), signer, event: createEvent(payload) }),
        ...[204, 401, 0].map((status) =>
          signRequest({ url: urlOf("lst_forward"), signer, event: createEvent({ ...payload, status }) }),
        ),
      ]);
      for (const request of requests) await exchange(request.url, request);
      const decoded = await signRequest({ url: urlOf("lst_hmac"), signer, event: createEvent(payload) });
      await exchange(decoded.url, { ...decoded, ...withDecodedSecret(decoded) });
      await exchange(urlOf("lst_hmac"), { method: "OPTIONS", url: urlOf("lst_hmac"), headers: {} });
      const [time, body] = [String(Math.floor(Date.now() / 1000)), JSON.stringify(payload)];
      for (const secret of [Buffer.from(standard.slice("whsec_".length), "base64"), standard]) {
        const mac = createHmac("sha256", secret).update(`msg_${type}.${time}.${body}`).digest("base64");
        const headers = {
          "webhook-id": `msg_${type}`,
          "webhook-timestamp": time,
          "webhook-signature": `v1,${mac}`,
        };
        await exchange(urlOf("lst_standard"), {
          method: "POST",
          url: urlOf("lst_standard"),
          headers: { ...headers, "content-type": "application/json" },
          body: Buffer.from(body),
        });
      }
      inspector.force({ listenerId: "lst_hmac", status: 503 });
      const forced = await signRequest({ url: urlOf("lst_hmac"), signer, event: createEvent(payload) });
      await exchange(forced.url, forced);
    }
    for (const { n } of inspector.list().rows.slice(0, 8)) inspector.mark(n, { pinned: true, note: NOTE });
  });
  afterAll(async () => {
    for (const stop of stops) await stop();
  });

  it.each([
    ["light", false],
    ["dark", true],
  ])("no fact is cut, and no mark is missing, at any width, %s", async (_scheme, dark) => {
    const { page, context, offences } = await openPage(browser(), pageUrl, { dark });
    await page.setViewportSize({ width: 1280, height: HEIGHT });
    await page.locator("article").waitFor();
    await page.getByRole("banner").getByRole("button", { name: "Send a test event" }).click();
    await page.getByText("Test event to lst_hmac: 200").waitFor();
    await page.keyboard.press("r");
    await page.keyboard.press("Home");
    await page.keyboard.press("Enter");
    await page.getByText(/^Replay \(same-id\)/).waitFor();
    await page.getByRole("button", { name: "By cause" }).click();
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: HEIGHT });
      const back = page.getByRole("button", { name: "Requests" });
      if (width < 900 && (await back.isVisible())) await back.click();
      await page.locator(".row").first().waitFor();
      expect(await page.locator(".row").count()).toBeGreaterThan(30);
      expect(await page.evaluate(FAULTS), `at ${width} px`).toEqual([]);
      expect(await violations(page), `at ${width} px`).toEqual([]);
    }
    expect(offences).toEqual([]);
    await context.close();
  });
});
