// Entitlements, app users and owners in the database.
import type { Schemas } from "../api/validation.js";
import { type Database, first } from "./database.js";
import { createdAt, type Stored, timestamp } from "./document.js";

type AppEntitlement = Schemas["AppEntitlement"];
type AppOwnerEntitlement = Schemas["AppOwnerEntitlement"];
type AppUserOwner = Schemas["AppUserOwner"];

/** An entitlement whose holders own an app in a role. */
interface EntitlementOwnerKey {
  readonly appId: string;
  readonly roleSlug: string;
  readonly entitlementAppId: string;
  readonly entitlementId: string;
}

/** A user who owns an app user in a role. */
interface UserOwnerKey {
  readonly appId: string;
  readonly appUserId: string;
  readonly roleSlug: string;
  readonly userId: string;
}

/** Where a page starts: behind this owner. */
export type OwnerPosition = readonly [createdAt: number, userId: string, roleSlug: string];

/** Entitlements, app users, and who owns what (specification 2.5, 2.6). */
export interface Owners {
  addEntitlement(entitlement: AppEntitlement): void;
  addEntitlementOwner(owner: EntitlementOwnerKey & { createdAt: number }): void;
  addAppUser(user: { appId: string; id: string; createdAt: number; displayName: string }): void;
  hasAppUser(appId: string, id: string): boolean;
  hasEntitlement(appId: string, id: string): boolean;
  addUserOwner(owner: UserOwnerKey & { createdAt: number }): void;
  deleteUserOwner(owner: UserOwnerKey): boolean;
  getEntitlementOwner(key: EntitlementOwnerKey): AppOwnerEntitlement | undefined;
  /** Owners of an app user in the order they were made; an empty `roleSlug` is any. */
  searchUserOwners(
    of: { appId: string; appUserId: string; roleSlug: string },
    after: OwnerPosition,
    limit: number,
  ): AppUserOwner[];
}

/** The owners of a database. */
export function owners(db: Database): Owners {
  const insertEntitlement = db.prepare(
    "INSERT INTO entitlements (app_id, id, created_at, document) VALUES (?, ?, ?, ?)",
  );
  const insertEntitlementOwner = db.prepare(`INSERT INTO entitlement_owners
    (app_id, role_slug, entitlement_app_id, entitlement_id, created_at) VALUES (?, ?, ?, ?, ?)`);
  const insertAppUser = db.prepare(
    "INSERT INTO app_users (app_id, id, created_at, display_name) VALUES (?, ?, ?, ?)",
  );
  const selectAppUser = db.prepare("SELECT 1 FROM app_users WHERE app_id = ? AND id = ?");
  const selectEntitlement = db.prepare("SELECT 1 FROM entitlements WHERE app_id = ? AND id = ?");
  const insertUserOwner = db.prepare(`INSERT INTO app_user_owners
    (app_id, app_user_id, role_slug, user_id, created_at) VALUES (?, ?, ?, ?, ?)`);
  const removeUserOwner = db.prepare(`DELETE FROM app_user_owners
    WHERE app_id = ? AND app_user_id = ? AND role_slug = ? AND user_id = ? RETURNING user_id`);
  const selectEntitlementOwner = db.prepare(`SELECT o.created_at, e.document FROM entitlement_owners o
    JOIN entitlements e ON e.app_id = o.entitlement_app_id AND e.id = o.entitlement_id
    WHERE o.app_id = ? AND o.role_slug = ? AND o.entitlement_app_id = ? AND o.entitlement_id = ?`);
  const selectUserOwners = db.prepare(`SELECT o.role_slug, o.user_id, o.created_at, u.document
    FROM app_user_owners o JOIN users u ON u.id = o.user_id
    WHERE o.app_id = ? AND o.app_user_id = ? AND (o.created_at, o.user_id, o.role_slug) > (?, ?, ?)
      AND (? = '' OR o.role_slug = ?)
    ORDER BY o.created_at, o.user_id, o.role_slug LIMIT ?`);
  return {
    addEntitlement: (entitlement) =>
      void insertEntitlement.all(
        entitlement.appId,
        entitlement.id,
        createdAt(entitlement),
        JSON.stringify(entitlement),
      ),
    addEntitlementOwner: ({ appId, roleSlug, entitlementAppId, entitlementId, createdAt: at }) =>
      void insertEntitlementOwner.all(appId, roleSlug, entitlementAppId, entitlementId, at),
    addAppUser: ({ appId, id, createdAt: at, displayName }) =>
      void insertAppUser.all(appId, id, at, displayName),
    hasAppUser: (appId, id) => selectAppUser.all(appId, id).length > 0,
    hasEntitlement: (appId, id) => selectEntitlement.all(appId, id).length > 0,
    addUserOwner: ({ appId, appUserId, roleSlug, userId, createdAt: at }) =>
      void insertUserOwner.all(appId, appUserId, roleSlug, userId, at),
    deleteUserOwner: ({ appId, appUserId, roleSlug, userId }) =>
      removeUserOwner.all(appId, appUserId, roleSlug, userId).length > 0,
    getEntitlementOwner({ appId, roleSlug, entitlementAppId, entitlementId }) {
      const row = first<Stored & { created_at: number }>(
        selectEntitlementOwner.all(appId, roleSlug, entitlementAppId, entitlementId),
      );
      return (
        row && {
          appEntitlement: JSON.parse(row.document) as AppEntitlement,
          appId,
          roleSlug,
          createdAt: timestamp(row.created_at),
        }
      );
    },
    searchUserOwners({ appId, appUserId, roleSlug }, after, limit) {
      const rows = selectUserOwners.all(appId, appUserId, ...after, roleSlug, roleSlug, limit);
      return (rows as (Stored & { role_slug: string; user_id: string; created_at: number })[]).map((row) => ({
        appId,
        roleSlug: row.role_slug,
        userId: row.user_id,
        user: JSON.parse(row.document) as Schemas["User"],
        createdAt: timestamp(row.created_at),
      }));
    },
  };
}
