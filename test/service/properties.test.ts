import { createHmac, randomUUID } from "node:crypto";
import { createService, type Fixture, type Service } from "hookproof-service";
import { afterAll, beforeAll, expect, it } from "vitest";
import fc from "../kit/fast-check.js";
import { FIXTURE } from "./fixture.js";
import { OPERATIONS } from "./openapi-operations.js";
import { type DrawnRequest, type KnownValues, requestsOf } from "./openapi-requests.js";

const LONG = process.env.HOOKPROOF_LONG === "1";
const REQUESTS = LONG ? 100_000 : 2_000;
const AT_ONCE = 20;
const SECRET = "QSBrZXkgZm9yIEhvb2twcm9vZiB0ZXN0cyBvbmx5ISE";

const STATE: Fixture = {
  ...FIXTURE,
  secrets: [{ id: "note", creatorUserId: "user-ada", text: "hunter2" }],
  automations: [
    {
      id: "auto-1",
      listenerId: "lst-1",
      signingSecret: SECRET,
      trigger: { hmac: {} },
      steps: [{ name: "a", templates: { all: "{{ ctx.trigger }}" } }],
    },
  ],
};

const KNOWN: KnownValues = {
  id: ["ac-oidc", "rt-manual"],
  app_id: ["app-1"],
  vault_id: ["note"],
  suggestion_id: ["cohort-1"],
  role_slug: ["owner"],
  app_entitlement_ref_app_id: ["app-1"],
  app_entitlement_ref_id: ["ent-1"],
  user_id: ["au-1"],
  bridge_id: ["bridge-1"],
  listener_id: ["lst-1"],
  automation_id: ["auto-1"],
  operation_id: ["getAuthConfig", "createToken"],
  name: ["one", "two"],
  pageToken: [""],
  page_token: [""],
  readerRecipient: ["age1lggyhqrw2nlhcxprm67z43rta597azn8gknawjehu9d9dl0jq3yqqvfafg"],
  updateMask: ["displayName", "appResourceType.traitIds", "*", ""],
  attribute: ["department", "profile.team", "emails"],
  creatorUserId: ["user-ada"],
  allowedUserIds: [["user-ada"]],
  userId: ["user-bob"],
  trigger: [{ hmac: {} }, { jwt: { jwksUrl: "https://keys.example.com/jwks.json" } }],
  allowedCidrs: [[], ["203.0.113.0/24"]],
  condition: ["", "ctx.trigger.n > 1", "true"],
  templates: [{}, { text: "{{ ctx.trigger }}" }],
  scope: ["", "all"],
  createAutomation: [{ trigger: { hmac: {} } }],
  updateAutomation: [{ trigger: { hmac: {} }, steps: [{ name: "b", condition: "true" }] }],
  putFault: [{ status: 503, times: 2 }, { delayMs: 5 }, { sequence: [{ disconnect: true }, {}] }],
  searchJournal: [{}, { operation: "getAuthConfig" }],
  addState: [{}, { users: [{ id: "user-new" }] }, { authConfigs: [{ id: "ac-new" }] }],
};
/** Each proves a secret, or hashes one, which is slow on purpose. */
const SELDOM = { createToken: 1, createClient: 1 };

/** What goes wrong on purpose, and at what time, would hide what goes wrong by itself: it has a service of its own. */
let service: Service;
let controlled: Service;
beforeAll(async () => {
  const options = { fixture: STATE, validateAnswers: true, attemptLimits: { failures: 1_000_000 } };
  service = await createService(options);
  controlled = await createService(options);
});
afterAll(() => Promise.all([service?.stop(), controlled?.stop()]));

/** The headers of a request, with a token that is good or a signature. */
function headersOf({ operationId, body = "" }: DrawnRequest, token: string): Record<string, string> {
  const type = operationId === "uploadSecretFile" ? "application/octet-stream" : "application/json";
  if (operationId === "createToken") return { "Content-Type": type };
  if (operationId !== "receiveWebhook") return { "Content-Type": type, Authorization: `Bearer ${token}` };
  const timestamp = String(Math.floor(Date.now() / 1000));
  const id = randomUUID();
  return {
    "Content-Type": type,
    "Webhook-Timestamp": timestamp,
    "Webhook-Event-Id": id,
    "Webhook-Signature": createHmac("sha256", SECRET)
      .update(`${timestamp}.${id}.${body}`)
      .digest("base64url"),
  };
}

it(`no request drawn from the OpenAPI document is answered with a 5xx, in ${REQUESTS}; half of them are well-formed`, {
  timeout: 3_600_000,
}, async () => {
  const proved = { client_id: service.clientId, client_secret: service.clientSecret };
  const known = { ...KNOWN, createToken: [{ grant_type: "client_credentials", ...proved }] };
  const drawn = requestsOf(OPERATIONS, known, SELDOM);
  let token = "";
  const seen = new Map<string, Map<number, number>>();
  let wellFormed = 0;
  let batches = 0;
  const send = async (one: DrawnRequest) => {
    const { operationId, isControl, method, target, body } = one;
    const answer = await fetch((isControl ? controlled : service).url + target, {
      method,
      headers: headersOf(one, isControl ? controlled.controlToken : token),
      ...(body === undefined ? {} : { body }),
    });
    const shown = await answer.text();
    expect(answer.status, `${method} ${target} ${body}: ${shown}`).toBeLessThan(500);
    expect(() => JSON.parse(shown)).not.toThrow();
    const statuses = seen.get(operationId) ?? new Map<number, number>();
    seen.set(operationId, statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1));
    if (one.wellFormed) wellFormed += 1;
  };
  await fc.assert(
    fc.asyncProperty(fc.array(drawn, { minLength: AT_ONCE, maxLength: AT_ONCE }), async (batch) => {
      // What was deleted is there again, and a token ends after an hour.
      if (batches++ % 2 === 0) {
        await service.reset();
        token = await service.token();
      }
      await Promise.all(batch.map(send));
    }),
    { numRuns: REQUESTS / AT_ONCE },
  );
  const counted = [...seen.values()].flatMap((statuses) => [...statuses]);
  const sum = (holds: (status: number) => boolean) =>
    counted.reduce((all, [status, count]) => (holds(status) ? all + count : all), 0);
  if (LONG)
    console.info(
      `${sum(() => true)} requests: ${wellFormed} well-formed, ${sum((status) => status !== 400)} not 400, ` +
        `${sum((status) => status < 300)} 2xx\n${JSON.stringify([...seen].map(([id, all]) => [id, [...all]]))}`,
    );
  expect(wellFormed).toBeGreaterThanOrEqual(REQUESTS / 2);
  // They reach what they are meant for; the id of a run is not drawn.
  const reached = [...seen].filter(([, statuses]) => statuses.has(200)).map(([id]) => id);
  const meant = OPERATIONS.map(({ id }) => id).filter((id) => id !== "getAutomationRun");
  expect(reached.sort()).toEqual(meant.sort());
});
