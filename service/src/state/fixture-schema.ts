// The JSON Schema of a fixture.
import { openApiDocument, type Schema } from "../api/openapi-document.js";

type Properties = Record<string, unknown>;

const components = openApiDocument.components.schemas;
const named = (name: string) => ({ $ref: `#/$defs/${name}` });
const ID = named("Id");
const CLIENT_ID = {
  type: "string",
  pattern: "^[A-Za-z0-9_.:@/-]{1,256}$",
  description: "An id, or one of the form `name@host/pcc`.",
};
const TEXT = { type: "string" };
const LABEL = { type: "string", description: "For people; not part of any answer." };
const listOf = (items: unknown) => ({ type: "array", items });
const object = (properties: Properties, required: string[]) => ({
  type: "object",
  properties,
  required,
  additionalProperties: false,
});

/** A resource of the API with an id, and what a fixture adds to it. */
function resource(name: string, more: Properties = {}, required: string[] = ["id"]): object {
  const { properties, "x-at-most-one": oneof } = components[name] ?? {};
  const own = object({ ...(properties as Properties), id: ID, ...more }, required);
  return oneof === undefined ? own : { ...own, "x-at-most-one": oneof };
}

const NAMED = { id: ID, displayName: LABEL, createdAt: named("Timestamp") };

const FIXTURE = object(
  {
    $schema: { ...TEXT, description: "Where editors find this schema." },
    version: { type: "integer", description: "The version of this form, 1; the same if it is left out." },
    users: listOf(resource("User")),
    clients: listOf(
      object(
        {
          id: CLIENT_ID,
          secret: { ...TEXT, minLength: 1, description: "Stored as a hash." },
          secretHash: {
            ...TEXT,
            pattern: "^[A-Za-z0-9_-]{22}\\.[A-Za-z0-9_-]{43}$",
            description: "What an export has in the place of the secret: its salted scrypt hash.",
          },
          publicJwk: {
            type: "object",
            description: "An Ed25519 JWK, for a client that proves itself by assertions.",
          },
          displayName: TEXT,
          role: { enum: ["super-admin", "member"], description: "`member` by default." },
          userId: { ...ID, description: "The user it acts as." },
        },
        ["id"],
      ),
    ),
    authConfigs: listOf(resource("AuthConfig")),
    apps: listOf(
      object(
        {
          ...NAMED,
          resourceTypes: listOf(
            resource("AppResourceType", {
              manuallyManaged: {
                type: "boolean",
                description: "Whether 4.4 may update it; true by default.",
              },
            }),
          ),
          entitlements: listOf(resource("AppEntitlement")),
          entitlementOwners: {
            description: "Entitlements whose holders own the app.",
            ...listOf(
              object({ roleSlug: ID, appId: ID, entitlementId: ID, createdAt: named("Timestamp") }, [
                "roleSlug",
                "appId",
                "entitlementId",
              ]),
            ),
          },
          grants: {
            description: "Who holds which of the app's entitlements.",
            ...listOf(
              object({ entitlementId: ID, userId: ID, createdAt: named("Timestamp") }, [
                "entitlementId",
                "userId",
              ]),
            ),
          },
          users: {
            description: "Users of the app, with the users who own them.",
            ...listOf(
              object(
                {
                  ...NAMED,
                  owners: listOf(
                    object({ roleSlug: ID, userId: ID, createdAt: named("Timestamp") }, [
                      "roleSlug",
                      "userId",
                    ]),
                  ),
                },
                ["id"],
              ),
            ),
          },
        },
        ["id"],
      ),
    ),
    suggestions: {
      description: "Suggestions of role mining, with the users of their cohorts.",
      ...listOf(object({ ...NAMED, userIds: listOf(ID) }, ["id"])),
    },
    bridges: listOf(object({ ...NAMED, credentials: listOf(resource("TunnelCredential")) }, ["id"])),
    secrets: listOf(
      resource(
        "SecretInput",
        { creatorUserId: ID, createdAt: named("Timestamp"), revokedAt: named("Timestamp") },
        ["id", "creatorUserId"],
      ),
    ),
    automations: listOf(
      resource(
        "AutomationInput",
        {
          listenerId: { ...ID, description: "Generated if it is left out." },
          signingSecret: {
            ...TEXT,
            minLength: 1,
            description: "Of an HMAC trigger; generated if it is left out.",
          },
          createdAt: named("Timestamp"),
          updatedAt: named("Timestamp"),
        },
        ["trigger"],
      ),
    ),
  },
  [],
);

let made: Schema | undefined;

/** The JSON Schema of a fixture, made from the OpenAPI document; `service/fixture.schema.json` is this, for editors. */
export function fixtureSchema(): Schema {
  made ??= makeSchema();
  return made;
}

function makeSchema(): Schema {
  const schema = closed(FIXTURE) as Schema;
  const $defs: Record<string, unknown> = {};
  const collect = (value: unknown) => {
    for (const [, name = ""] of JSON.stringify(value).matchAll(/"#\/\$defs\/([A-Za-z]+)"/g)) {
      if (name in $defs) continue;
      $defs[name] = closed(components[name]);
      collect($defs[name]);
    }
  };
  collect(schema);
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "Fixture of hookproof's local service",
    description:
      "What the local Access Governance Service holds at the start. What is left out gets its default.",
    ...schema,
    $defs,
  };
}

/** A schema of the document as a fixture has it: nothing is required that has a default, and nothing unknown is allowed. */
function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed);
  if (typeof value !== "object" || value === null) return value;
  const { required, ...schema } = value as Properties;
  const properties = schema.properties as Properties | undefined;
  const entries = Object.entries(schema).map(([name, part]) => [
    name,
    name === "$ref" ? String(part).replace("#/components/schemas/", "#/$defs/") : closed(part),
  ]);
  const still = ((required ?? []) as string[]).filter((name) => !hasDefault(properties?.[name]));
  return {
    ...(properties && !("additionalProperties" in schema) ? { additionalProperties: false } : {}),
    ...Object.fromEntries(entries),
    ...(still.length > 0 ? { required: still } : {}),
  };
}

function hasDefault(schema: unknown): boolean {
  return typeof schema === "object" && schema !== null && "default" in schema;
}
