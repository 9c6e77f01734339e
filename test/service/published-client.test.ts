import { fixedClock } from "hookproof/testing";
import { createService } from "hookproof-service";
import { exportJWK, generateKeyPair, importJWK, type JWK, SignJWT } from "jose";
import { expect, it } from "vitest";
import { FIXTURE } from "./fixture.js";

/**
 * A stand-in for the published SDK of this kind of API, made from what is known of it: the secret carries a private
 * JWK, an assertion is made with the host of the client's id as audience, a token is kept for an hour and never renewed
 * on a 401, names in queries are in snake_case, and nullable fields are sent as null.
 */
class PublishedClient {
  #token: { value: string; until: number } | undefined;
  readonly refused: string[] = [];

  constructor(
    private readonly serverUrl: string,
    private readonly clientId: string,
    private readonly clientSecret: string,
    private readonly now: () => number,
  ) {}

  async call(method: string, path: string, body?: unknown): Promise<number> {
    const answer = await fetch(this.serverUrl + path, {
      method,
      headers: { Authorization: `Bearer ${await this.#bearer()}`, "Content-Type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!answer.ok) this.refused.push(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return answer.status;
  }

  async #bearer(): Promise<string> {
    if (this.#token && this.now() < this.#token.until) return this.#token.value;
    const [kind, , version, encoded = ""] = this.clientSecret.split(":");
    if (kind !== "secret-token" || version !== "v1") throw new Error("not a secret of this kind");
    const jwk = JSON.parse(Buffer.from(encoded, "base64").toString()) as JWK;
    const host = /@([^:/]+)/.exec(this.clientId)?.[1] ?? "";
    const seconds = Math.floor(this.now() / 1000);
    const assertion = await new SignJWT()
      .setProtectedHeader({ alg: "EdDSA" })
      .setIssuer(this.clientId)
      .setSubject(this.clientId)
      .setAudience(host)
      .setIssuedAt(seconds)
      .setNotBefore(seconds - 120)
      .setExpirationTime(seconds + 120)
      .sign(await importJWK(jwk, "EdDSA"));
    const answer = await fetch(`${this.serverUrl}/auth/v1/token`, {
      method: "POST",
      body: new URLSearchParams({
        grant_type: "client_credentials",
        client_id: this.clientId,
        client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
        client_assertion: assertion,
      }),
    });
    if (!answer.ok) throw new Error(`no token: ${await answer.text()}`);
    const { access_token } = (await answer.json()) as { access_token: string };
    this.#token = { value: access_token, until: this.now() + 3_600_000 };
    return access_token;
  }
}

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
  const client = new PublishedClient(
    `http://localhost:${service.port}`.replace("localhost", "127.0.0.1"),
    clientId,
    `secret-token:example.com:v1:${encoded}`,
    () => clock.now(),
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
