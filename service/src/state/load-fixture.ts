// Adds a fixture to what is stored, all of it or nothing.
import { completed } from "../api/validation.js";
import { hashClientSecret } from "../auth/client-secret.js";
import { auditRecord } from "../secrets/audit-record.js";
import { prepareSecret, type SecretTools } from "../secrets/create-secret.js";
import { instant } from "../storage/document.js";
import type { Storage } from "../storage/storage.js";
import { completeAuthConfig } from "./auth-config.js";
import type { Fixture, FixtureApp, FixtureClient, FixtureOf, FixtureSecret } from "./fixture.js";
import { automationOf } from "./fixture-automations.js";
import { isErased } from "./fixture-references.js";

/** Adds a fixture to what is stored, all of it or nothing. What has no time of creation is created `now`. */
export async function loadFixture(
  storage: Storage,
  tools: SecretTools,
  fixture: Fixture,
  now: number,
): Promise<void> {
  // Hashing and encrypting do not wait for a database, and a transaction must not wait for them.
  const clients = await Promise.all((fixture.clients ?? []).map(hashed));
  const secrets = await Promise.all((fixture.secrets ?? []).map((secret) => prepared(secret, tools, now)));
  const loading = new Loading(storage, now);
  storage.db.transaction(() => {
    for (const user of fixture.users ?? []) loading.addUser(user);
    for (const client of clients) storage.clients.put({ ...client, createdAt: now });
    for (const config of fixture.authConfigs ?? []) loading.addAuthConfig(config);
    loading.addApps(fixture.apps ?? []);
    for (const suggestion of fixture.suggestions ?? []) loading.addSuggestion(suggestion);
    for (const secret of secrets) loading.addSecret(secret);
    for (const automation of fixture.automations ?? [])
      storage.automations.put(automationOf(automation, now));
    for (const bridge of fixture.bridges ?? []) loading.addBridge(bridge);
  });
}

/** Adds one thing after another, within a transaction of its caller. */
class Loading {
  readonly #storage: Storage;
  readonly #now: number;

  constructor(storage: Storage, now: number) {
    this.#storage = storage;
    this.#now = now;
  }

  addUser(user: FixtureOf<"users">): void {
    this.#storage.users.add(completed("User", this.#dated(user)));
  }

  addAuthConfig(config: FixtureOf<"authConfigs">): void {
    this.#storage.authConfigs.add(completeAuthConfig(this.#dated(config)));
  }

  addApps(apps: readonly FixtureApp[]): void {
    const { resourceTypes } = this.#storage;
    for (const { id, displayName = "", createdAt } of apps) {
      if (!resourceTypes.hasApp(id))
        resourceTypes.addApp({ id, displayName, createdAt: this.#at(createdAt) });
    }
    // An app may be owned through another one's entitlements.
    for (const { id: appId, entitlements = [] } of apps) {
      for (const entitlement of entitlements) {
        const full = completed("AppEntitlement", this.#dated({ ...entitlement, appId }));
        this.#storage.owners.addEntitlement(full);
      }
    }
    for (const app of apps) this.#addWithinApp(app);
  }

  #addWithinApp(app: FixtureApp): void {
    const { resourceTypes, grants, owners } = this.#storage;
    const appId = app.id;
    for (const { manuallyManaged = true, ...type } of app.resourceTypes ?? []) {
      const resourceType = completed("AppResourceType", this.#dated({ ...type, appId }));
      resourceTypes.add({ resourceType, manuallyManaged });
    }
    for (const user of app.users ?? []) this.#addAppUser(appId, user);
    for (const { entitlementId, userId, createdAt } of app.grants ?? [])
      grants.add({ appId, entitlementId, userId, createdAt: this.#at(createdAt) });
    for (const { roleSlug, appId: entitlementAppId, entitlementId, createdAt } of app.entitlementOwners ??
      []) {
      const owned = { entitlementAppId, entitlementId };
      owners.addEntitlementOwner({ appId, roleSlug, ...owned, createdAt: this.#at(createdAt) });
    }
  }

  #addAppUser(appId: string, user: NonNullable<FixtureApp["users"]>[number]): void {
    const { owners } = this.#storage;
    const { id, displayName = "" } = user;
    if (!owners.hasAppUser(appId, id))
      owners.addAppUser({ appId, id, displayName, createdAt: this.#at(user.createdAt) });
    for (const { roleSlug, userId, createdAt } of user.owners ?? [])
      owners.addUserOwner({ appId, appUserId: id, roleSlug, userId, createdAt: this.#at(createdAt) });
  }

  addSuggestion({ id, displayName = "", createdAt, userIds = [] }: FixtureOf<"suggestions">): void {
    const { cohorts, users } = this.#storage;
    cohorts.add({ id, displayName, createdAt: this.#at(createdAt) });
    for (const userId of userIds) {
      const user = users.get(userId);
      if (!user) throw new TypeError(`suggestions: ${id} has the user ${userId}, who is not there`);
      cohorts.addMember(id, user);
    }
  }

  addSecret(secret: Awaited<ReturnType<typeof prepared>>): void {
    const storage = this.#storage;
    storage.paperSecrets.add(secret);
    const by = { caller: { userId: secret.creatorUserId }, clientIp: "" };
    const then = { now: () => secret.createdAt };
    storage.auditEvents.add(auditRecord(storage, "paper_secret_created", secret.id, by, then));
  }

  addBridge({ id, displayName = "", createdAt, credentials = [] }: FixtureOf<"bridges">): void {
    const { tunnelCredentials } = this.#storage;
    if (!tunnelCredentials.hasBridge(id))
      tunnelCredentials.addBridge({ id, displayName, createdAt: this.#at(createdAt) });
    for (const credential of credentials)
      tunnelCredentials.add(completed("TunnelCredential", this.#dated({ ...credential, bridgeId: id })));
  }

  #at(createdAt: string | undefined): number {
    return createdAt === undefined ? this.#now : instant(createdAt);
  }

  #dated<Given extends object>(given: Given) {
    return { createdAt: new Date(this.#now).toISOString(), ...given };
  }
}

function prepared({ createdAt, revokedAt, ...secret }: FixtureSecret, tools: SecretTools, now: number) {
  return prepareSecret(tools, {
    isErased: isErased({ revokedAt, ...secret }),
    ...secret,
    createdAt: createdAt === undefined ? now : instant(createdAt),
    revokedAt: revokedAt === undefined ? undefined : instant(revokedAt),
  });
}

async function hashed({
  id,
  secret,
  secretHash,
  publicJwk,
  displayName = "",
  role = "member",
  userId = "",
}: FixtureClient) {
  return {
    clientId: id,
    displayName,
    role,
    userId,
    secretHash: secret === undefined ? secretHash : await hashClientSecret(secret),
    publicJwk: publicJwk === undefined ? undefined : JSON.stringify(publicJwk),
  };
}
