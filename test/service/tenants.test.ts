import { join } from "node:path";
import { createEvent, hmacSigner, signRequest } from "hookproof";
import type { Service } from "hookproof-service";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../kit/temporary-folder.js";
import { FIXTURE } from "./fixture.js";
import { endedRuns, ownAutomation } from "./own-automation.js";
import { ask, startService } from "./running-service.js";

const CONFIG = "/api/v1/auth-configs/ac-okta";
const CREDENTIALS = "/api/v1/iam/tunnel/bridges/bridge-2/credentials?page_size=10";
/** More credentials than a page has. */
const bridge = { id: "bridge-2", credentials: Array.from({ length: 11 }, (_, n) => ({ id: `cred-2-${n}` })) };
const fixture = { ...FIXTURE, bridges: [bridge] };

/** Two tenants in this process, with the same ids in both. */
function twoTenants(of: "memory" | "files"): Promise<[Service, Service]> {
  const folder = of === "files" ? temporaryFolder("tenants") : undefined;
  const start = (name: string) => startService({ fixture, db: folder && join(folder, `${name}.db`) });
  return Promise.all([start("red"), start("blue")]);
}

async function statusOf(url: string, token: string, init: RequestInit = {}): Promise<number> {
  return (await fetch(url, { ...init, headers: { Authorization: `Bearer ${token}` } })).status;
}

describe.each(["memory", "files"] as const)("two tenants in one process, in %s", (of) => {
  it("have a state, faults, a clock and a journal each", async () => {
    const [red, blue] = await twoTenants(of);
    expect((await ask(red, "DELETE", CONFIG)).status).toBe(200);
    red.setFault("getAuthConfig", { status: 503, times: 1 });
    red.moveClock({ to: Date.parse("2030-01-01T00:00:00Z"), frozen: true });
    const [inRed, inBlue] = await Promise.all([ask(red, "GET", CONFIG), ask(blue, "GET", CONFIG)]);
    expect([inRed.status, inBlue.status]).toEqual([503, 200]);
    expect(inRed.headers.get("Date")).toBe("Tue, 01 Jan 2030 00:00:00 GMT");
    expect(inBlue.headers.get("Date")).not.toContain("2030");
    expect((await ask(red, "GET", CONFIG)).status).toBe(404);
    const { body: journal } = await ask(blue, "POST", "/local/v1/journal/search", { body: {} });
    expect(journal.count).toBe(1);
    await blue.reset();
    expect((await ask(red, "GET", CONFIG)).status).toBe(404);
  });

  it("refuse each other's tokens, clients, pages and files", async () => {
    const [red, blue] = await twoTenants(of);
    for (const [own, other] of [
      [red, blue],
      [blue, red],
    ] as const) {
      for (const token of [await own.token(), own.controlToken]) {
        expect(await statusOf(`${own.url}/local/v1/clock`, token)).toBe(200);
        expect(await statusOf(`${other.url}/local/v1/clock`, token)).toBe(401);
      }
      expect(await statusOf(other.url + CONFIG, await own.token())).toBe(401);
      const secret = {
        grant_type: "client_credentials",
        client_id: own.clientId,
        client_secret: own.clientSecret,
      };
      const answers = [own, other].map(({ url }) =>
        fetch(`${url}/auth/v1/token`, { method: "POST", body: new URLSearchParams(secret) }),
      );
      expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 401]);

      const { nextPageToken } = (await ask(own, "GET", CREDENTIALS)).body;
      const next = `${CREDENTIALS}&page_token=${nextPageToken}`;
      expect([(await ask(own, "GET", next)).status, (await ask(other, "GET", next)).status]).toEqual([
        200, 400,
      ]);

      const upload = "/local/v1/secrets/upload?filename=a&creatorUserId=user-ada";
      const { body: uploaded } = await ask(own, "POST", upload, { body: "encrypted" });
      const { body: viewed } = await ask(own, "POST", `/api/v1/secrets/${uploaded.id}/view`, {
        body: { readerRecipient: "age1lggyhqrw2nlhcxprm67z43rta597azn8gknawjehu9d9dl0jq3yqqvfafg" },
      });
      const download = new URL(viewed.downloadUrl);
      expect((await fetch(other.url + download.pathname + download.search)).status).toBe(404);
      expect((await fetch(download)).status).toBe(200);
    }
  });

  it("refuse an assertion and an event that were made for the other", async () => {
    const [red, blue] = await twoTenants(of);
    const { privateKey, publicKey } = await generateKeyPair("EdDSA");
    const client = { id: "robot", publicJwk: await exportJWK(publicKey) };
    for (const tenant of [red, blue])
      expect((await ask(tenant, "POST", "/local/v1/clients", { body: client })).status).toBe(200);
    const assertion = await new SignJWT()
      .setProtectedHeader({ alg: "EdDSA" })
      .setIssuer("robot")
      .setSubject("robot")
      .setAudience(red.url)
      .setExpirationTime("1 minute")
      .sign(privateKey);
    const body = new URLSearchParams({
      grant_type: "client_credentials",
      client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
      client_assertion: assertion,
    });
    const answers = [red, blue].map(({ url }) => fetch(`${url}/auth/v1/token`, { method: "POST", body }));
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 401]);

    const { id, listenerUrl, signingSecret } = await ownAutomation(red);
    const signer = hmacSigner({ secret: signingSecret });
    const { url: to, ...init } = await signRequest({ url: listenerUrl, signer, event: createEvent({}) });
    expect((await fetch(blue.url + new URL(to).pathname, init)).status).toBe(404);
    expect((await fetch(to, init)).status).toBe(200);
    await endedRuns(red, id);
  });

  it("go on when the other has stopped", async () => {
    const [red, blue] = await twoTenants(of);
    await red.stop();
    await expect(fetch(red.url + CONFIG)).rejects.toThrow();
    expect((await ask(blue, "GET", CONFIG)).status).toBe(200);
  });
});
