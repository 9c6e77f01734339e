// Who holds which entitlement, in the database.
import type { Schemas } from "../api/validation.js";
import type { Database } from "./database.js";
import { type Stored, timestamp } from "./document.js";

/** An entitlement that a user holds. */
interface Grant {
  readonly appId: string;
  readonly entitlementId: string;
  readonly userId: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
}

/** Who holds which entitlement. */
export interface Grants {
  /** One that is there stays as it is. */
  add(grant: Grant): void;
  /** What a user holds, by app and entitlement. */
  ofUser(
    userId: string,
    limit: number,
  ): { appId: string; entitlementId: string; slug: string; createdAt: string }[];
  /** Whether a user holds anything in an app, or this entitlement, by its id or its slug. */
  has(userId: string, appId: string, entitlement?: string): boolean;
  /** Who holds an entitlement, by its id or its slug, in the order in which they got it. */
  membersOf(appId: string, entitlement: string, limit: number): Schemas["User"][];
}

/** The grants of a database. */
export function grants(db: Database): Grants {
  const insert = db.prepare(`INSERT INTO grants (user_id, app_id, entitlement_id, created_at)
    VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`);
  const selectOfUser = db.prepare(`SELECT g.app_id, g.entitlement_id, g.created_at, e.document FROM grants g
    JOIN entitlements e ON e.app_id = g.app_id AND e.id = g.entitlement_id
    WHERE g.user_id = ? ORDER BY g.app_id, g.entitlement_id LIMIT ?`);
  const selectAny = db.prepare("SELECT 1 FROM grants WHERE user_id = ? AND app_id = ? LIMIT 1");
  const NAMED = `(SELECT id FROM entitlements WHERE app_id = ?
    AND (id = ? OR json_extract(document, '$.slug') = ?) ORDER BY id = ? DESC, id LIMIT 1)`;
  const selectOne = db.prepare(
    `SELECT 1 FROM grants WHERE user_id = ? AND app_id = ? AND entitlement_id = ${NAMED}`,
  );
  const selectMembers = db.prepare(`SELECT u.document FROM grants g JOIN users u ON u.id = g.user_id
    WHERE g.app_id = ? AND g.entitlement_id = ${NAMED} ORDER BY g.created_at, g.user_id LIMIT ?`);
  return {
    add: ({ userId, appId, entitlementId, createdAt }) =>
      void insert.all(userId, appId, entitlementId, createdAt),
    ofUser: (userId, limit) =>
      (selectOfUser.all(userId, limit) as (Stored & GrantRow)[]).map((row) => ({
        appId: row.app_id,
        entitlementId: row.entitlement_id,
        slug: (JSON.parse(row.document) as Schemas["AppEntitlement"]).slug,
        createdAt: timestamp(row.created_at),
      })),
    has: (userId, appId, entitlement) =>
      (entitlement === undefined
        ? selectAny.all(userId, appId)
        : selectOne.all(userId, appId, appId, entitlement, entitlement, entitlement)
      ).length > 0,
    membersOf: (appId, entitlement, limit) =>
      (selectMembers.all(appId, appId, entitlement, entitlement, entitlement, limit) as Stored[]).map(
        ({ document }) => JSON.parse(document) as Schemas["User"],
      ),
  };
}

interface GrantRow {
  app_id: string;
  entitlement_id: string;
  created_at: number;
}
