import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { fieldTables, operationsOf } from "./specification.js";

const file = new URL("../../service/openapi.yaml", import.meta.url);
const document = parse(readFileSync(file, "utf8"));
const schemas = document.components.schemas;

/** Where the tables of section 2 are in the document. */
const RESOURCES: Record<string, string> = {
  "2.1": "SecretContent",
  "2.2": "AuthConfig",
  "2.3": "AppResourceType",
  "2.4": "User",
  "2.5": "AppEntitlement",
  "2.7": "TunnelCredential",
};

// biome-ignore lint/suspicious/noExplicitAny: a schema of the document, walked freely
function schemaAt(schema: any, path: readonly string[]): any {
  const target = schema?.$ref ? schemas[schema.$ref.split("/").at(-1)] : schema;
  const [step, ...rest] = path;
  return step === undefined ? target : schemaAt(target?.properties?.[step], rest);
}

describe("openapi.yaml", () => {
  it("has every operation of the specification, under its method and path", () => {
    const operations = operationsOf();
    expect(operations).toHaveLength(10);
    for (const { method, path } of operations) expect(document.paths[path], path).toHaveProperty(method);
  });

  it.each(operationsOf())("has the parameters of $section: $path", ({ method, path, parameters }) => {
    const item = document.paths[path];
    const all = [...(item.parameters ?? []), ...(item[method].parameters ?? [])].map(
      // biome-ignore lint/suspicious/noExplicitAny: a parameter of the document
      (one: any) => (one.$ref ? document.components.parameters[one.$ref.split("/").at(-1)] : one),
    );
    for (const name of parameters) expect(all.map((one) => one.name)).toContain(name);
    expect(parameters.length).toBeGreaterThan(path.includes("{") ? 0 : -1);
  });

  it("has every field of section 2, of its type", () => {
    const fields = fieldTables();
    expect(fields.length).toBeGreaterThan(100);
    for (const { section, name, type } of fields) {
      const schema = schemaAt(schemas[RESOURCES[section] as string], [name]);
      expect(schema, `${section} ${name}`).toBeDefined();
      expect(fits(schema, type), `${section} ${name} is ${type}`).toBe(true);
    }
  });

  it("has the attribute source of 2.4", () => {
    for (const name of [
      "appId",
      "appUserId",
      "appUserProfileAttributeKey",
      "userAttributeMappingId",
      "value",
    ]) {
      expect(schemaAt(schemas.AttributeSource, [name]).type).toBe("string");
    }
    expect(schemaAt(schemas.AttributeSource, ["priority"]).type).toBe("integer");
  });

  it.each([
    ["microsoft", "tenantIds"],
    ["okta", "domain, oidcClientId, oidcClientSecret"],
    ["onelogin", "domain, oidcClientId, oidcClientSecret"],
    ["jumpcloud", "oidcClientId, oidcClientSecret"],
    ["pingone", "environmentId, oidcClientId, oidcClientSecret"],
    ["oidc", "issuerId, oidcClientId, oidcClientSecret, scopes, exactMatchClaims"],
    ["svcLocal", "delegatedVerifiers"],
    ["google", "hostedDomains, additionalHostedDomains"],
  ])("has the provider member %s of 2.2", (member, fields) => {
    const { properties } = schemaAt(schemas.AuthConfig, [member]);
    expect(Object.keys(properties)).toEqual(fields.split(", "));
  });

  it.each([
    ["action", "actionName, appId, connectorId, displayName"],
    ["connector", "account, defaultBehavior, deleteAccount"],
    ["connector.account", "config, connectorId, schemaId, doNotSave, saveToVault"],
    ["connector.account.saveToVault", "vaultIds"],
    ["connector.defaultBehavior", "connectorId"],
    ["connector.deleteAccount", "connectorId"],
    ["delegated", "appId, entitlementId, implicit"],
    ["devicePlacement", "vaultBoundaryId"],
    ["externalTicket", "appId, connectorId, externalTicketProvisionerConfigId, instructions"],
    ["manual", "assignee, instructions, userIds"],
    ["manual.assignee", "appOwners, entitlementOwners, expression, group, manager, users"],
    ["manual.assignee.appOwners", "allowReassignment, fallbackUserIds"],
    ["manual.assignee.entitlementOwners", "allowReassignment, fallbackUserIds"],
    ["manual.assignee.expression", "allowReassignment, expressions, fallbackUserIds"],
    ["manual.assignee.group", "allowReassignment, appGroupId, appId, fallbackUserIds"],
    ["manual.assignee.manager", "allowReassignment, fallbackUserIds"],
    ["manual.assignee.users", "allowReassignment, userIds"],
    ["multiStep", "provisionSteps"],
    ["unconfigured", ""],
    ["webhook", "webhookId"],
  ])("has the provisioning policy member %s of 2.5", (member, fields) => {
    const { properties = {} } = schemaAt(schemas.ProvisionPolicy, member.split("."));
    expect(Object.keys(properties)).toEqual(fields === "" ? [] : fields.split(", "));
  });

  it.each([
    ["AppOwnerEntitlement", "appEntitlement, appId, roleSlug, createdAt"],
    ["AppUserOwner", "appId, roleSlug, userId, user, createdAt"],
    ["UserWithCoverage", "coveredCount, user"],
    ["ViewSecretRequest", "readerRecipient"],
    ["UpdateResourceTypeRequest", "appResourceType, updateMask"],
    ["UpdateResourceTypeResponse", "appResourceType, expanded"],
    ["SearchCohortUsersRequest", "pageSize, pageToken, profileFilters, selectedEntitlements"],
    ["SearchCohortUsersResponse", "list, nextPageToken, usersWithCoverage"],
    ["SearchSecretAuditEventsRequest", "vaultId, actorUserId, actorEmail, clientIp, pageSize, pageToken"],
    ["SearchSecretAuditEventsResponse", "list, nextPageToken"],
    ["GetEntitlementOwnerResponse", "appOwnerEntitlement"],
    ["SearchUserOwnersResponse", "list, nextPageToken"],
    ["ListBridgeCredentialsResponse", "list, nextPageToken"],
    ["GetAuthConfigResponse", "authConfig"],
  ])("has the fields of %s", (name, fields) => {
    expect(Object.keys(schemas[name].properties)).toEqual(fields.split(", "));
  });

  it("names every enumerated value the specification does, and lets others pass", () => {
    const text = readFileSync(new URL("../../docs/specification.md", import.meta.url), "utf8");
    const named = new Set(text.match(/\b[A-Z][A-Z]+(?:_[A-Z]+)*_(?:UNSPECIFIED|[A-Z]+)\b/g));
    const known = new Set(
      Object.values(schemas).flatMap((schema) => {
        const [first, other] = (schema as { anyOf?: { enum?: string[]; type?: string }[] }).anyOf ?? [];
        if (first) expect(other).toEqual({ type: "string" });
        return first?.enum ?? [];
      }),
    );
    expect(known).toContain("UNKNOWN");
    for (const value of named) {
      if (/_UNSPECIFIED$|^SECRET_/.test(value)) expect(known).toContain(value);
    }
  });

  it("marks what is deprecated", () => {
    expect(schemas.SearchCohortUsersRequest.properties.selectedEntitlements.deprecated).toBe(true);
    expect(schemas.SearchCohortUsersResponse.properties.usersWithCoverage.deprecated).toBe(true);
    expect(schemas.UserWithCoverage.deprecated).toBe(true);
  });

  it("declares both security schemes, and the version", () => {
    expect(document.security).toEqual([{ bearer: [] }, { clientCredentials: [] }]);
    expect(document.info.version).toBe("0.1.0-alpha");
  });
});

/** Whether a schema has the type the specification's table gives. */
// biome-ignore lint/suspicious/noExplicitAny: a schema of the document
function fits(schema: any, type: string): boolean {
  const types = [schema.type].flat();
  if (type.includes("[]") || type.includes("arrays")) return types.includes("array");
  if (type.includes("enum")) return Array.isArray(schema.anyOf);
  if (type.includes("date-time")) return schema.format === "date-time";
  if (type.includes("object")) return types.includes("object");
  if (type.includes("boolean")) return types.includes("boolean");
  if (type.includes("int")) return types.includes("integer");
  if (type.includes("policy")) return types.includes("object");
  return types.includes("string");
}
