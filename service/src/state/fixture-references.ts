// Finds ids in a fixture that stand twice or refer to nothing.
import type { FieldViolation } from "../api/errors.js";
import { publicJwkProblem } from "../auth/client-authentication.js";
import { isObjectKey, OBJECT_KEY_WORDS } from "../storage/object-store.js";
import type { Fixture } from "./fixture.js";

/** What a database holds already, for a fixture that is added to it. */
export interface StoredIds {
  user(id: string): boolean;
  app(id: string): boolean;
  entitlement(appId: string, id: string): boolean;
}

const NOTHING_STORED: StoredIds = { user: () => false, app: () => false, entitlement: () => false };

interface ErasedBy {
  readonly views?: number | undefined;
  readonly revokedAt?: string | undefined;
}

/** Whether nobody can view a paper secret any more: its text was erased, and it needs none. */
export function isErased({ views, revokedAt }: ErasedBy): boolean {
  return views === 0 || revokedAt !== undefined;
}

/** Ids that stand twice, references to what is not there, and secrets without content, with their paths. */
export function referenceProblems(fixture: Fixture, stored: StoredIds = NOTHING_STORED): FieldViolation[] {
  const problems: FieldViolation[] = [];
  const ids = (list: readonly { id?: string | undefined }[] | undefined, path: string): Set<string> => {
    const seen = new Set<string>();
    for (const [index, { id }] of (list ?? []).entries()) {
      if (id === undefined) continue;
      if (seen.has(id)) problems.push({ field: `${path}[${index}].id`, description: `stands twice: ${id}` });
      seen.add(id);
    }
    return seen;
  };
  const refer = (known: ReadonlySet<string>, id: string | undefined, field: string, what: "user" | "app") => {
    if (id !== undefined && !known.has(id) && !stored[what](id))
      problems.push({ field, description: `is no ${what} of the fixture: ${id}` });
  };

  const users = ids(fixture.users, "users");
  const apps = ids(fixture.apps, "apps");
  for (const kind of ["clients", "authConfigs", "suggestions", "bridges", "secrets", "automations"] as const)
    ids(fixture[kind], kind);
  ids(
    fixture.bridges?.flatMap(({ credentials = [] }) => credentials),
    "bridges.credentials",
  );
  ids(
    fixture.automations?.map(({ listenerId }) => ({ id: listenerId })),
    "automations.listenerId",
  );
  const entitlements = new Set<string>();
  for (const [index, app] of (fixture.apps ?? []).entries()) {
    ids(app.resourceTypes, `apps[${index}].resourceTypes`);
    ids(app.users, `apps[${index}].users`);
    for (const id of ids(app.entitlements, `apps[${index}].entitlements`))
      entitlements.add(`${app.id} ${id}`);
  }

  for (const [index, { userId, publicJwk, secret, secretHash }] of (fixture.clients ?? []).entries()) {
    refer(users, userId, `clients[${index}].userId`, "user");
    const problem = publicJwkProblem(publicJwk);
    if (problem !== undefined) problems.push({ field: `clients[${index}].publicJwk`, description: problem });
    if (secret !== undefined && secretHash !== undefined)
      problems.push({ field: `clients[${index}].secretHash`, description: "stands beside secret" });
  }
  for (const [index, { userIds = [] }] of (fixture.suggestions ?? []).entries())
    for (const [n, id] of userIds.entries()) refer(users, id, `suggestions[${index}].userIds[${n}]`, "user");
  for (const [index, { id, allowedUserIds = [], creatorUserId, text, file, views, revokedAt }] of (
    fixture.secrets ?? []
  ).entries()) {
    refer(users, creatorUserId, `secrets[${index}].creatorUserId`, "user");
    for (const [n, id] of allowedUserIds.entries())
      refer(users, id, `secrets[${index}].allowedUserIds[${n}]`, "user");
    if (file !== undefined && !isObjectKey(id))
      problems.push({
        field: `secrets[${index}].id`,
        description: `is of a file, and must be ${OBJECT_KEY_WORDS}`,
      });
    if (text === undefined && file === undefined && !isErased({ views, revokedAt }))
      problems.push({ field: `secrets[${index}].text`, description: "is missing, and so is file" });
  }
  for (const [index, app] of (fixture.apps ?? []).entries()) {
    const referEntitlement = (appId: string, entitlementId: string, path: string) => {
      if (!entitlements.has(`${appId} ${entitlementId}`) && !stored.entitlement(appId, entitlementId))
        problems.push({
          field: `${path}.entitlementId`,
          description: `is no entitlement of ${appId}: ${entitlementId}`,
        });
    };
    for (const [n, { appId, entitlementId }] of (app.entitlementOwners ?? []).entries()) {
      const path = `apps[${index}].entitlementOwners[${n}]`;
      refer(apps, appId, `${path}.appId`, "app");
      if (apps.has(appId) || stored.app(appId)) referEntitlement(appId, entitlementId, path);
    }
    for (const [n, { entitlementId, userId }] of (app.grants ?? []).entries()) {
      const path = `apps[${index}].grants[${n}]`;
      referEntitlement(app.id, entitlementId, path);
      refer(users, userId, `${path}.userId`, "user");
    }
    for (const [n, { owners = [] }] of (app.users ?? []).entries())
      for (const [m, { userId }] of owners.entries())
        refer(users, userId, `apps[${index}].users[${n}].owners[${m}].userId`, "user");
  }
  return problems;
}
