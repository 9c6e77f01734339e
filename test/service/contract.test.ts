import { readFileSync } from "node:fs";
import { generateX25519Identity, identityToRecipient } from "age-encryption";
import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import { createEvent, hmacSigner, signRequest } from "hookproof";
import { createService, OPERATION_IDS, type OperationId, type Service } from "hookproof-service";
import createClient, { type Client } from "openapi-fetch";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import type { paths } from "../../service/src/api/openapi.js";
import { FIXTURE } from "./fixture.js";
import { endedRuns, ownAutomation } from "./own-automation.js";
import { ask, clientOf } from "./running-service.js";

const document = parse(readFileSync(new URL("../../service/openapi.yaml", import.meta.url), "utf8"));
const ajv = new Ajv2020({ strict: false });
(formats as unknown as (ajv: Ajv2020) => void)(ajv);
ajv.addSchema({ $id: "openapi", ...document });

let service: Service;
let api: Client<paths>;
/** What the calls below are about, made through the local administration. */
let made: {
  vault: string;
  doomedVault: string;
  automation: string;
  listener: string;
  secret: string;
  run: string;
};
beforeAll(async () => {
  service = await createService({ fixture: FIXTURE });
  api = await clientOf(service);
  const vault = async () =>
    (await api.POST("/local/v1/secrets", { body: { text: "hunter2", creatorUserId: "user-ada" } })).data
      ?.id ?? "";
  const { id: automation, listenerId: listener, signingSecret: secret } = await ownAutomation(service);
  const sent = await send(listener, secret, { n: 1 });
  if (sent.response.status !== 200) throw new Error("the first webhook was refused");
  const [run] = await endedRuns(service, automation);
  made = {
    vault: await vault(),
    doomedVault: await vault(),
    automation,
    listener,
    secret,
    run: run?.id ?? "",
  };
});
afterAll(() => service.stop());

/** A webhook as its document says, signed by our own sender. */
async function send(listener: string, secret: string, payload: unknown): Promise<Outcome> {
  const url = `${service.url}/api/v1/webhooks/incoming/${listener}`;
  const signed = await signRequest({ url, signer: hmacSigner({ secret }), event: createEvent(payload) });
  const response = await fetch(url, { ...signed, body: Buffer.from(signed.body) });
  return { response, data: await response.json() };
}

interface Outcome {
  response: Response;
  data?: unknown;
  error?: unknown;
}

const path = { app_id: "app-1" };
const none = { id: "none" };
const cohort = { suggestion_id: "cohort-1" };
const owner = {
  ...path,
  role_slug: "owner",
  app_entitlement_ref_app_id: "app-1",
  app_entitlement_ref_id: "ent-1",
};
const automation = () => ({ automation_id: made.automation });
const anonymous = () => createClient<paths>({ baseUrl: service.url });

/** Each operation as it succeeds, and with an error or two. */
const CALLS: [OperationId, number, () => Promise<Outcome>][] = [
  [
    "createToken",
    200,
    () =>
      anonymous().POST("/auth/v1/token", {
        body: {
          grant_type: "client_credentials",
          client_id: service.clientId,
          client_secret: service.clientSecret,
        },
      }),
  ],
  ["createToken", 400, () => anonymous().POST("/auth/v1/token", { body: {} })],
  ["getAuthConfig", 200, () => api.GET("/api/v1/auth-configs/{id}", { params: { path: { id: "ac-oidc" } } })],
  ["getAuthConfig", 404, () => api.GET("/api/v1/auth-configs/{id}", { params: { path: none } })],
  ["getAuthConfig", 401, () => anonymous().GET("/api/v1/auth-configs/{id}", { params: { path: none } })],
  [
    "updateResourceType",
    200,
    () =>
      api.POST("/api/v1/apps/{app_id}/resource_types/{id}", {
        params: { path: { ...path, id: "rt-manual" } },
        body: { appResourceType: { displayName: "Gate" }, updateMask: "displayName" },
      }),
  ],
  [
    "updateResourceType",
    400,
    () =>
      api.POST("/api/v1/apps/{app_id}/resource_types/{id}", {
        params: { path: { ...path, id: "rt-manual" } },
        body: { updateMask: "id" },
      }),
  ],
  [
    "searchCohortUsers",
    200,
    () =>
      api.POST("/api/v1/role-mining/suggestions/{suggestion_id}/users", {
        params: { path: cohort },
        body: { pageSize: 10, selectedEntitlements: [{ appId: "app-1", entitlementId: "ent-1" }] },
      }),
  ],
  [
    "searchCohortUsers",
    404,
    () =>
      api.POST("/api/v1/role-mining/suggestions/{suggestion_id}/users", {
        params: { path: { suggestion_id: "none" } },
      }),
  ],
  [
    "getEntitlementOwner",
    200,
    () =>
      api.GET(
        "/api/v2/apps/{app_id}/owners/entitlements/{role_slug}/{app_entitlement_ref_app_id}/{app_entitlement_ref_id}",
        { params: { path: owner } },
      ),
  ],
  [
    "searchUserOwners",
    200,
    () =>
      api.GET("/api/v2/apps/{app_id}/users/{user_id}/owners/users", {
        params: { path: { ...path, user_id: "au-1" }, query: { pageSize: 10, roleSlug: "owner" } },
      }),
  ],
  [
    "searchUserOwners",
    400,
    () =>
      api.GET("/api/v2/apps/{app_id}/users/{user_id}/owners/users", {
        params: { path: { ...path, user_id: "au-1" }, query: { page_token: "nonsense" } },
      }),
  ],
  [
    "listBridgeCredentials",
    200,
    () =>
      api.GET("/api/v1/iam/tunnel/bridges/{bridge_id}/credentials", {
        params: { path: { bridge_id: "bridge-1" }, query: { page_size: 10 } },
      }),
  ],
  [
    "deleteAuthConfig",
    200,
    () => api.DELETE("/api/v1/auth-configs/{id}", { params: { path: { id: "ac-local" } }, body: {} }),
  ],
  [
    "createSecret",
    200,
    () => api.POST("/local/v1/secrets", { body: { text: "swordfish", creatorUserId: "user-ada" } }),
  ],
  [
    "viewSecret",
    200,
    async () => {
      const readerRecipient = await identityToRecipient(await generateX25519Identity());
      return api.POST("/api/v1/secrets/{vault_id}/view", {
        params: { path: { vault_id: made.vault } },
        body: { readerRecipient },
      });
    },
  ],
  [
    "viewSecret",
    400,
    () =>
      api.POST("/api/v1/secrets/{vault_id}/view", {
        params: { path: { vault_id: made.vault } },
        body: { readerRecipient: "ssh-ed25519 AAAA" },
      }),
  ],
  [
    "revokeSecret",
    200,
    () =>
      api.POST("/local/v1/secrets/{vault_id}/revoke", { params: { path: { vault_id: made.doomedVault } } }),
  ],
  [
    "searchSecretAuditEvents",
    200,
    () => api.POST("/api/v1/search/secrets-admin/audit_events", { body: { pageSize: 10 } }),
  ],
  ["receiveWebhook", 200, () => send(made.listener, made.secret, { n: 2 })],
  ["receiveWebhook", 401, () => send(made.listener, "another secret", { n: 3 })],
  ["createAutomation", 200, () => api.POST("/local/v1/automations", { body: { trigger: { hmac: {} } } })],
  ["listAutomations", 200, () => api.GET("/local/v1/automations", { params: { query: { page_size: 10 } } })],
  [
    "getAutomation",
    200,
    () => api.GET("/local/v1/automations/{automation_id}", { params: { path: automation() } }),
  ],
  [
    "listAutomationRuns",
    200,
    () => api.GET("/local/v1/automations/{automation_id}/runs", { params: { path: automation() } }),
  ],
  [
    "getAutomationRun",
    200,
    () =>
      api.GET("/local/v1/automations/{automation_id}/runs/{run_id}", {
        params: { path: { ...automation(), run_id: made.run } },
      }),
  ],
  [
    "debugAutomation",
    200,
    () =>
      api.POST("/local/v1/automations/{automation_id}/debug", {
        params: { path: automation() },
        body: { event: { type: "left" } },
      }),
  ],
  [
    "updateAutomation",
    200,
    () =>
      api.PUT("/local/v1/automations/{automation_id}", {
        params: { path: automation() },
        body: { trigger: { hmac: {} }, enabled: false },
      }),
  ],
  [
    "rotateAutomationSecret",
    200,
    () => api.POST("/local/v1/automations/{automation_id}/rotate_secret", { params: { path: automation() } }),
  ],
  [
    "deleteAutomation",
    200,
    () => api.DELETE("/local/v1/automations/{automation_id}", { params: { path: automation() } }),
  ],
  [
    "uploadSecretFile",
    200,
    async () => {
      const answer = await ask(
        service,
        "POST",
        "/local/v1/secrets/upload?filename=a.age&creatorUserId=user-ada",
        {
          body: "encrypted",
          headers: { "Content-Type": "application/octet-stream" },
        },
      );
      const response = new Response(null, { status: answer.status, headers: answer.headers });
      return { response, data: answer.body };
    },
  ],
  ["addState", 200, () => api.POST("/local/v1/state", { body: { users: [{ id: "user-new" }] } })],
  ["addState", 409, () => api.POST("/local/v1/state", { body: { users: [{ id: "user-ada" }] } })],
  ["exportState", 200, () => api.POST("/local/v1/state/export", { body: { withSecrets: true } })],
  [
    "createClient",
    200,
    () => api.POST("/local/v1/clients", { body: { id: "made@127.0.0.1/pcc", secret: "s" } }),
  ],
  ["createClient", 409, () => api.POST("/local/v1/clients", { body: { id: "local-admin" } })],
  [
    "putFault",
    200,
    () =>
      api.PUT("/local/v1/faults/{operation_id}", {
        params: { path: { operation_id: "viewSecret" } },
        body: { status: 503, times: 3 },
      }),
  ],
  ["listFaults", 200, () => api.GET("/local/v1/faults")],
  [
    "deleteFault",
    200,
    () => api.DELETE("/local/v1/faults/{operation_id}", { params: { path: { operation_id: "viewSecret" } } }),
  ],
  [
    "deleteFault",
    404,
    () => api.DELETE("/local/v1/faults/{operation_id}", { params: { path: { operation_id: "getClock" } } }),
  ],
  ["clearFaults", 200, () => api.DELETE("/local/v1/faults")],
  ["moveClock", 200, () => api.POST("/local/v1/clock", { body: { advanceMs: 1_000 } })],
  ["getClock", 200, () => api.GET("/local/v1/clock")],
  ["saveSnapshot", 200, () => api.PUT("/local/v1/snapshots/{name}", { params: { path: { name: "one" } } })],
  ["listSnapshots", 200, () => api.GET("/local/v1/snapshots")],
  [
    "restoreSnapshot",
    200,
    () => api.POST("/local/v1/snapshots/{name}/restore", { params: { path: { name: "one" } } }),
  ],
  [
    "restoreSnapshot",
    404,
    () => api.POST("/local/v1/snapshots/{name}/restore", { params: { path: { name: "none" } } }),
  ],
  [
    "deleteSnapshot",
    200,
    () => api.DELETE("/local/v1/snapshots/{name}", { params: { path: { name: "one" } } }),
  ],
  [
    "searchJournal",
    200,
    () => api.POST("/local/v1/journal/search", { body: { operation: "getAuthConfig" } }),
  ],
  ["clearJournal", 200, () => api.DELETE("/local/v1/journal")],
  ["resetService", 200, () => api.POST("/local/v1/reset")],
  ["deleteAuthConfig", 404, () => api.DELETE("/api/v1/auth-configs/{id}", { params: { path: none } })],
];

it("has a call that succeeds for every operation of the document", () => {
  const called = CALLS.filter(([, status]) => status === 200).map(([id]) => id);
  expect([...new Set(called)].sort()).toEqual([...OPERATION_IDS].sort());
});

// In their order: what one call makes, a later one reads and removes.
describe("each answer", { shuffle: false }, () => {
  it.each(CALLS)("%s: %i is what the document says", async (id, status, call) => {
    const { response, data, error } = await call();
    expect(response.status).toBe(status);
    expect(response.headers.get("content-type")).toMatch(/^application\/json/);
    const wrong = errorsOf(id, status, data ?? error);
    expect(wrong).toEqual([]);
  });
});

/** What an answer breaks of the schema the document has for its status. */
function errorsOf(id: OperationId, status: number, body: unknown): unknown[] {
  for (const [path, item] of Object.entries<Record<string, never>>(document.paths)) {
    for (const [method, operation] of Object.entries<{
      operationId?: string;
      responses: Record<string, { $ref?: string }>;
    }>(item)) {
      if (operation.operationId !== id) continue;
      const name = operation.responses[status] ? String(status) : "default";
      const place = ["paths", path, method, "responses", name];
      const ref = operation.responses[name]?.$ref?.slice(2).split("/") ?? place;
      const pointer = [...ref, "content", "application/json", "schema"]
        .map((step) => encodeURIComponent(step.replaceAll("/", "~1")))
        .join("/");
      const validate = ajv.compile({ $ref: `openapi#/${pointer}` });
      return validate(body) ? [] : (validate.errors ?? []);
    }
  }
  throw new Error(`no operation ${id}`);
}
