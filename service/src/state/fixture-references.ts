// Finds ids in a fixture that stand twice or refer to nothing.
import type { FieldViolation } from "../api/errors.js";
import { publicJwkProblem } from "../auth/client-authentication.js";
import { isObjectKey, OBJECT_KEY_WORDS } from "../storage/object-store.js";
import type { Fixture, FixtureApp, FixtureClient, FixtureSecret } from "./fixture.js";

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
  const references = new References(fixture, stored);
  for (const [index, client] of (fixture.clients ?? []).entries())
    references.checkClient(client, `clients[${index}]`);
  for (const [index, { userIds = [] }] of (fixture.suggestions ?? []).entries())
    references.checkUsers(userIds, `suggestions[${index}].userIds`);
  for (const [index, secret] of (fixture.secrets ?? []).entries())
    references.checkSecret(secret, `secrets[${index}]`);
  for (const [index, app] of (fixture.apps ?? []).entries()) references.checkApp(app, `apps[${index}]`);
  return references.problems;
}

/** The ids of a fixture, and what is wrong with them. */
class References {
  readonly problems: FieldViolation[] = [];
  readonly #stored: StoredIds;
  readonly #users: ReadonlySet<string>;
  readonly #apps: ReadonlySet<string>;
  readonly #entitlements = new Set<string>();

  constructor(fixture: Fixture, stored: StoredIds) {
    this.#stored = stored;
    this.#users = this.#idsOf(fixture.users, "users");
    this.#apps = this.#idsOf(fixture.apps, "apps");
    for (const kind of [
      "clients",
      "authConfigs",
      "suggestions",
      "bridges",
      "secrets",
      "automations",
    ] as const)
      this.#idsOf(fixture[kind], kind);
    const credentials = fixture.bridges?.flatMap(({ credentials = [] }) => credentials);
    this.#idsOf(credentials, "bridges.credentials");
    const listeners = fixture.automations?.map(({ listenerId }) => ({ id: listenerId }));
    this.#idsOf(listeners, "automations.listenerId");
    for (const [index, app] of (fixture.apps ?? []).entries()) {
      this.#idsOf(app.resourceTypes, `apps[${index}].resourceTypes`);
      this.#idsOf(app.users, `apps[${index}].users`);
      for (const id of this.#idsOf(app.entitlements, `apps[${index}].entitlements`))
        this.#entitlements.add(`${app.id} ${id}`);
    }
  }

  checkClient({ userId, publicJwk, secret, secretHash }: FixtureClient, path: string): void {
    this.#refer("user", userId, `${path}.userId`);
    const problem = publicJwkProblem(publicJwk);
    if (problem !== undefined) this.#add(`${path}.publicJwk`, problem);
    if (secret !== undefined && secretHash !== undefined)
      this.#add(`${path}.secretHash`, "stands next to secret");
  }

  checkUsers(ids: readonly string[], path: string): void {
    for (const [n, id] of ids.entries()) this.#refer("user", id, `${path}[${n}]`);
  }

  checkSecret(secret: FixtureSecret, path: string): void {
    const { id, allowedUserIds = [], creatorUserId, text, file } = secret;
    this.#refer("user", creatorUserId, `${path}.creatorUserId`);
    this.checkUsers(allowedUserIds, `${path}.allowedUserIds`);
    if (file !== undefined && !isObjectKey(id))
      this.#add(`${path}.id`, `is of a file, and must be ${OBJECT_KEY_WORDS}`);
    if (text === undefined && file === undefined && !isErased(secret))
      this.#add(`${path}.text`, "is missing, and so is file");
  }

  checkApp(app: FixtureApp, path: string): void {
    for (const [n, { appId, entitlementId }] of (app.entitlementOwners ?? []).entries()) {
      const owner = `${path}.entitlementOwners[${n}]`;
      this.#refer("app", appId, `${owner}.appId`);
      if (this.#apps.has(appId) || this.#stored.app(appId)) this.#entitlement(appId, entitlementId, owner);
    }
    for (const [n, { entitlementId, userId }] of (app.grants ?? []).entries()) {
      this.#entitlement(app.id, entitlementId, `${path}.grants[${n}]`);
      this.#refer("user", userId, `${path}.grants[${n}].userId`);
    }
    for (const [n, { owners = [] }] of (app.users ?? []).entries())
      for (const [m, { userId }] of owners.entries())
        this.#refer("user", userId, `${path}.users[${n}].owners[${m}].userId`);
  }

  /** The ids of a list, each of which stands there once. */
  #idsOf(list: readonly { id?: string | undefined }[] | undefined, path: string): Set<string> {
    const seen = new Set<string>();
    for (const [index, { id }] of (list ?? []).entries()) {
      if (id === undefined) continue;
      if (seen.has(id)) this.#add(`${path}[${index}].id`, `stands twice: ${id}`);
      seen.add(id);
    }
    return seen;
  }

  #refer(what: "user" | "app", id: string | undefined, field: string): void {
    const known = what === "user" ? this.#users : this.#apps;
    if (id !== undefined && !known.has(id) && !this.#stored[what](id))
      this.#add(field, `is no ${what} of the fixture: ${id}`);
  }

  #entitlement(appId: string, id: string, path: string): void {
    if (!this.#entitlements.has(`${appId} ${id}`) && !this.#stored.entitlement(appId, id))
      this.#add(`${path}.entitlementId`, `is no entitlement of ${appId}: ${id}`);
  }

  #add(field: string, description: string): void {
    this.problems.push({ field, description });
  }
}
