// Adds a fixture to what is stored, all of it or nothing.
import { completed } from "../api/validation.js";
import { hashClientSecret } from "../auth/client-secret.js";
import { auditRecord } from "../secrets/audit-record.js";
import { prepareSecret, type SecretTools } from "../secrets/create-secret.js";
import { instant } from "../storage/document.js";
import type { Storage } from "../storage/storage.js";
import { completeAuthConfig } from "./auth-config.js";
import type { Fixture, FixtureApp, FixtureClient, FixtureSecret } from "./fixture.js";
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
  const at = (createdAt: string | undefined) => (createdAt === undefined ? now : instant(createdAt));
  const dated = <Given extends object>(given: Given) => ({
    createdAt: new Date(now).toISOString(),
    ...given,
  });

  const loadApp = (app: FixtureApp) => {
    for (const { manuallyManaged = true, ...type } of app.resourceTypes ?? []) {
      const resourceType = completed("AppResourceType", dated({ ...type, appId: app.id }));
      storage.resourceTypes.add({ resourceType, manuallyManaged });
    }
    for (const user of app.users ?? []) {
      const { id, displayName = "" } = user;
      if (!storage.owners.hasAppUser(app.id, id))
        storage.owners.addAppUser({ appId: app.id, id, displayName, createdAt: at(user.createdAt) });
      for (const { roleSlug, userId, createdAt } of user.owners ?? []) {
        storage.owners.addUserOwner({
          appId: app.id,
          appUserId: id,
          roleSlug,
          userId,
          createdAt: at(createdAt),
        });
      }
    }
    for (const { entitlementId, userId, createdAt } of app.grants ?? [])
      storage.grants.add({ appId: app.id, entitlementId, userId, createdAt: at(createdAt) });
    for (const { roleSlug, appId, entitlementId, createdAt } of app.entitlementOwners ?? []) {
      storage.owners.addEntitlementOwner({
        appId: app.id,
        roleSlug,
        entitlementAppId: appId,
        entitlementId,
        createdAt: at(createdAt),
      });
    }
  };

  storage.db.transaction(() => {
    for (const user of fixture.users ?? []) storage.users.add(completed("User", dated(user)));
    for (const client of clients) storage.clients.put({ ...client, createdAt: now });
    for (const config of fixture.authConfigs ?? [])
      storage.authConfigs.add(completeAuthConfig(dated(config)));
    const apps = fixture.apps ?? [];
    for (const { id, displayName = "", createdAt } of apps) {
      if (!storage.resourceTypes.hasApp(id))
        storage.resourceTypes.addApp({ id, displayName, createdAt: at(createdAt) });
    }
    // An app may be owned through another one's entitlements.
    for (const app of apps) {
      for (const entitlement of app.entitlements ?? []) {
        storage.owners.addEntitlement(completed("AppEntitlement", dated({ ...entitlement, appId: app.id })));
      }
    }
    for (const app of apps) loadApp(app);
    for (const { id, displayName = "", createdAt, userIds = [] } of fixture.suggestions ?? []) {
      storage.cohorts.add({ id, displayName, createdAt: at(createdAt) });
      for (const userId of userIds) {
        const user = storage.users.get(userId);
        if (!user) throw new TypeError(`suggestions: ${id} has the user ${userId}, who is not there`);
        storage.cohorts.addMember(id, user);
      }
    }
    for (const secret of secrets) {
      storage.paperSecrets.add(secret);
      const by = { caller: { userId: secret.creatorUserId }, clientIp: "" };
      const then = { now: () => secret.createdAt };
      storage.auditEvents.add(auditRecord(storage, "paper_secret_created", secret.id, by, then));
    }
    for (const automation of fixture.automations ?? []) {
      storage.automations.put(automationOf(automation, now));
    }
    for (const { id, displayName = "", createdAt, credentials = [] } of fixture.bridges ?? []) {
      if (!storage.tunnelCredentials.hasBridge(id))
        storage.tunnelCredentials.addBridge({ id, displayName, createdAt: at(createdAt) });
      for (const credential of credentials) {
        storage.tunnelCredentials.add(completed("TunnelCredential", dated({ ...credential, bridgeId: id })));
      }
    }
  });
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
