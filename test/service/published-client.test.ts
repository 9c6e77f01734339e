import { fixedClock } from "hookproof/testing";
import { createService } from "hookproof-service";
import { exportJWK, generateKeyPair } from "jose";
import { expect, it } from "vitest";
import { FIXTURE } from "./fixture.js";
import { PublishedClient } from "./published-client.js";

it("the published client works unmodified for every operation, for two hours", async () => {
  // Not on a whole second: what is rounded must not cost the client the end of its hour.
  const clock = fixedClock("2026-05-01T12:00:00.900Z");
  const { privateKey } = await generateKeyPair("EdDSA", { extractable: true });
  const { d, ...publicJwk } = await exportJWK(privateKey);
  const clientId = "name-12345@localhost/pcc";
  const clients = [{ id: clientId, publicJwk, role: "super-admin" as const, userId: "user-ada" }];
  const secrets = [{ id: "note", creatorUserId: "user-ada", text: "hunter2" }];
  const authConfigs = [
    ...(FIXTURE.authConfigs ?? []),
    ...Array.from({ length: 8 }, (_, n) => ({ id: `old-${n}` })),
  ];
  await using service = await createService({
    fixture: { ...FIXTURE, clients, secrets, authConfigs },
    clock,
    validateAnswers: true,
  });
  const encoded = Buffer.from(JSON.stringify({ ...publicJwk, d })).toString("base64");
  const client = new PublishedClient(service.url, clientId, `secret-token:example.com:v1:${encoded}`, () =>
    clock.now(),
  );
  const readerRecipient = "age1lggyhqrw2nlhcxprm67z43rta597azn8gknawjehu9d9dl0jq3yqqvfafg";
  for (let round = 0; round < 8; round++) {
    await client.call("POST", "/api/v1/secrets/note/view", { readerRecipient });
    await client.call("GET", "/api/v1/auth-configs/ac-okta");
    await client.call("DELETE", `/api/v1/auth-configs/old-${round}`, {});
    await client.call("POST", "/api/v1/apps/app-1/resource_types/rt-manual", {
      appResourceType: { displayName: `Door ${round}`, traitIds: null },
      updateMask: "displayName",
    });
    await client.call("POST", "/api/v1/apps/app-1/resource_types/rt-manual", {
      appResourceType: null,
      updateMask: null,
    });
    await client.call("POST", "/api/v1/role-mining/suggestions/cohort-1/users", {
      pageSize: 10,
      pageToken: "",
      profileFilters: null,
      selectedEntitlements: null,
    });
    await client.call("POST", "/api/v1/search/secrets-admin/audit_events", { pageSize: 10 });
    await client.call("GET", "/api/v2/apps/app-1/owners/entitlements/owner/app-1/ent-1");
    await client.call(
      "GET",
      "/api/v2/apps/app-1/users/au-1/owners/users?page_size=10&page_token=&role_slug=owner",
    );
    await client.call("GET", "/api/v1/iam/tunnel/bridges/bridge-1/credentials?page_size=10");
    clock.advance(1_000_000 - 1);
    // A moment before its hour is over, too.
    if (round % 4 === 3) await client.call("GET", "/api/v1/auth-configs/ac-okta");
  }
  clock.advance(3_599_999);
  await client.call("GET", "/api/v1/auth-configs/ac-okta");
  expect(client.refused).toEqual([]);
  expect(clock.now() - Date.parse("2026-05-01T12:00:00.900Z")).toBeGreaterThan(2 * 3_600_000);
});
