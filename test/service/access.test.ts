import { createService, type Service } from "hookproof-service";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FIXTURE } from "./fixture.js";
import { ask, startService } from "./running-service.js";

const PATH = "/api/v1/auth-configs/ac-oidc";

let service: Service;
beforeAll(async () => {
  service = await createService({ fixture: FIXTURE, validateAnswers: true });
});
afterAll(() => service.stop());

describe("the bearer check", () => {
  // RFC 6750 section 3: the challenge has a realm, and an error code only where a token was sent.
  const CHALLENGE = 'Bearer realm="access-governance"';
  const OF_TOKEN = `${CHALLENGE}, error="invalid_token"`;

  it.each<[string, string | undefined, string]>([
    ["no header", undefined, CHALLENGE],
    ["an empty one", "", CHALLENGE],
    ["another scheme", "Basic cm9ib3Q6c2VjcmV0", CHALLENGE],
    ["no token", "Bearer", CHALLENGE],
    ["two tokens", "Bearer a.b.c, Bearer d.e.f", OF_TOKEN],
    ["nonsense", "Bearer nonsense", OF_TOKEN],
    ["an over-long token", `Bearer ${"x".repeat(9000)}`, OF_TOKEN],
    ["no signature", "Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJsb2NhbC1hZG1pbiJ9.", OF_TOKEN],
  ])("answers %s with 401", async (_name, authorization, challenge) => {
    const headers: Record<string, string> =
      authorization === undefined ? {} : { Authorization: authorization };
    const answer = await fetch(`${service.url}${PATH}`, { headers });
    expect(answer.status).toBe(401);
    expect(answer.headers.get("www-authenticate")).toBe(challenge);
    expect(await answer.json()).toMatchObject({ code: 16, details: expect.any(Array) });
  });

  it("answers an expired, an altered and another tenant's token with 401", async () => {
    const other = await startService();
    const good = await service.token();
    const [header, claims, signature] = good.split(".");
    const changed = JSON.parse(Buffer.from(claims as string, "base64url").toString());
    const altered = Buffer.from(JSON.stringify({ ...changed, sub: "other" })).toString("base64url");
    const wrong = [
      await service.token({ expiresInSeconds: -1 }),
      `${header}.${altered}.${signature}`,
      good.slice(0, -6),
      await other.token(),
    ];
    for (const token of wrong) {
      const answer = await ask(service, "GET", PATH, { headers: { Authorization: `Bearer ${token}` } });
      expect(answer).toMatchObject({ status: 401, body: { code: 16 } });
      expect(answer.headers.get("www-authenticate")).toBe(OF_TOKEN);
    }
    // Case does not matter in the scheme; and a good token is good after the bad ones.
    const answer = await ask(service, "GET", PATH, { headers: { Authorization: `bearer ${good}` } });
    expect(answer.status).toBe(200);
  });

  it.each([
    ["DELETE", PATH],
    ["POST", "/api/v1/apps/app-1/resource_types/rt-manual"],
  ])("answers a member with 403: %s %s", async (method, path) => {
    const headers = { Authorization: `Bearer ${await service.token({ role: "member" })}` };
    expect(await ask(service, method, path, { headers, body: {} })).toMatchObject({
      status: 403,
      body: { code: 7 },
    });
  });

  it.each([
    ["GET", PATH],
    ["POST", "/api/v1/role-mining/suggestions/cohort-1/users"],
    ["GET", "/api/v2/apps/app-1/owners/entitlements/owner/app-1/ent-1"],
    ["GET", "/api/v2/apps/app-1/users/au-1/owners/users"],
    ["GET", "/api/v1/iam/tunnel/bridges/bridge-1/credentials"],
  ])("lets a member read: %s %s", async (method, path) => {
    const headers = {
      Authorization: `Bearer ${await service.token({ role: "member", userId: "user-ada" })}`,
    };
    const body = method === "POST" ? {} : undefined;
    expect((await ask(service, method, path, { headers, body })).status).toBe(200);
  });

  it("mints tokens only within what the service would give out", async () => {
    await expect(service.token({ expiresInSeconds: 3_601 })).rejects.toThrow(RangeError);
    await expect(service.token({ userId: "nobody" })).rejects.toThrow("there is no user nobody");
  });
});
