import { readFileSync } from "node:fs";
import { createService, type Service } from "hookproof-service";
import { afterAll, beforeAll, expect, it } from "vitest";
import { parse } from "yaml";
import fc from "../support/fast-check.js";
import { FIXTURE } from "./fixture.js";

const RUNS = process.env.HOOKPROOF_LONG === "1" ? 50_000 : 2_000;
const AT_ONCE = 20;
const document = parse(readFileSync(new URL("../../service/openapi.yaml", import.meta.url), "utf8"));

// biome-ignore-start lint/suspicious/noExplicitAny: schemas of the document, walked freely
const resolved = (value: any): any =>
  value?.$ref
    ? value.$ref
        .slice(2)
        .split("/")
        .reduce((place: any, step: string) => place[step], document)
    : value;

/** Ids that lead somewhere, by the parameter they belong to. */
const IDS: Record<string, string[]> = {
  id: ["ac-oidc", "rt-manual"],
  app_id: ["app-1"],
  suggestion_id: ["cohort-1"],
  role_slug: ["owner"],
  app_entitlement_ref_app_id: ["app-1"],
  app_entitlement_ref_id: ["ent-1"],
  user_id: ["au-1"],
  bridge_id: ["bridge-1"],
};
const WORDS = [
  "displayName",
  "profile.team",
  "*",
  "client_credentials",
  "' OR 1=1 --",
  "$[0]",
  "\u0000",
  "%ff",
];

/** Words that lead somewhere, beside any text. */
const text = fc.oneof(fc.constantFrom(...WORDS), fc.string({ unit: "binary", maxLength: 40 }));

const idOf = (parameter: string) =>
  fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...(IDS[parameter] ?? ["some"])) },
    { weight: 1, arbitrary: text },
  );

/** What a schema allows, and now and then what it does not. */
function anyOf(given: any): fc.Arbitrary<unknown> {
  const schema = resolved(given) ?? {};
  return fc.oneof(
    { weight: 9, arbitrary: fitting(schema) },
    { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 1 }) },
  );
}

function fitting(schema: any): fc.Arbitrary<unknown> {
  if (schema.type === "object") {
    const fields = Object.entries(schema.properties ?? {}).map(([name, one]) => [name, anyOf(one)]);
    return fc.record(Object.fromEntries(fields), { requiredKeys: [] });
  }
  if (schema.type === "array") return fc.array(anyOf(schema.items), { maxLength: 4 });
  if (schema.type === "integer") return fc.oneof(fc.integer(), fc.constantFrom(0, 10, 100, 1e21, -1));
  if (schema.type === "boolean") return fc.boolean();
  if (schema.type === "string") return text;
  return fc.jsonValue({ maxDepth: 1 });
}

interface Call {
  readonly operationId: string;
  readonly method: string;
  readonly url: string;
  readonly body: string | undefined;
}

function callsOf(path: string, method: string, operation: any, shared: any[]): fc.Arbitrary<Call> {
  const parameters = [...shared, ...(operation.parameters ?? [])].map(resolved);
  const placed = (place: string) => parameters.filter((one) => one.in === place);
  const names: fc.Arbitrary<Record<string, string>> = fc.record(
    Object.fromEntries(placed("path").map(({ name }) => [name, idOf(name)])),
  );
  // Each now and then: several at once refuse one another.
  const seldom = (schema: any) =>
    fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: anyOf(schema) });
  const query = fc.record(
    Object.fromEntries(placed("query").map(({ name, schema }) => [name, seldom(schema)])),
  );
  const schema = operation.requestBody?.content["application/json"].schema;
  const body = schema
    ? fc.oneof(
        { weight: 9, arbitrary: anyOf(schema).map((value) => JSON.stringify(value)) },
        { weight: 1, arbitrary: fc.string() },
      )
    : fc.constant(undefined);
  return fc.tuple(names, query, body).map(([ids, asked, sent]) => {
    const filled = path.replace(/\{([a-z_]+)\}/g, (_, name) => encodeURIComponent(String(ids[name])));
    const search = Object.entries(asked).flatMap(([name, value]) =>
      value === undefined
        ? []
        : [`${name}=${encodeURIComponent(typeof value === "string" ? value : JSON.stringify(value))}`],
    );
    return { operationId: operation.operationId, method, url: `${filled}?${search.join("&")}`, body: sent };
  });
}

const calls = fc.oneof(
  ...Object.entries<any>(document.paths).flatMap(([path, { parameters = [], ...methods }]) =>
    Object.entries<any>(methods).map(([method, operation]) =>
      callsOf(path, method.toUpperCase(), operation, parameters),
    ),
  ),
);
// biome-ignore-end lint/suspicious/noExplicitAny: end of the walk

let service: Service;
beforeAll(async () => {
  service = await createService({
    fixture: FIXTURE,
    validateAnswers: true,
    attemptLimits: { failures: 1_000_000 },
  });
});
afterAll(() => service.stop());

it(`no input of any operation is a 500, in ${RUNS} requests`, { timeout: 900_000 }, async () => {
  const token = await service.token();
  const seen = new Map<string, Set<number>>();
  await fc.assert(
    fc.asyncProperty(fc.array(calls, { minLength: AT_ONCE, maxLength: AT_ONCE }), async (batch) => {
      await Promise.all(
        batch.map(async ({ operationId, method, url, body }) => {
          const answer = await fetch(`${service.url}${url}`, {
            method,
            headers: {
              ...(operationId === "createToken" ? {} : { Authorization: `Bearer ${token}` }),
              "Content-Type": "application/json",
            },
            ...(body === undefined ? {} : { body }),
          });
          const shown = await answer.text();
          seen.set(operationId, (seen.get(operationId) ?? new Set()).add(answer.status));
          expect(answer.status, `${method} ${url} ${body}: ${shown}`).toBeLessThan(500);
          expect(() => JSON.parse(shown)).not.toThrow();
        }),
      );
    }),
    { numRuns: RUNS / AT_ONCE },
  );
  // The inputs reach what they are meant for.
  for (const id of ["updateResourceType", "searchCohortUsers", "searchUserOwners", "listBridgeCredentials"]) {
    expect(seen.get(id), id).toContain(200);
    expect(seen.get(id), id).toContain(400);
  }
});
