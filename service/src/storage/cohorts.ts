// Suggestions of role mining in the database.
import { openApiDocument } from "../api/openapi-document.js";
import type { Schemas } from "../api/validation.js";
import type { Database, Statement } from "./database.js";
import type { Stored } from "./document.js";

type User = Schemas["User"];

/** A condition on a user: one of the values must be that of the attribute. */
export interface CohortFilter {
  /** A field of the user; or with `profile`, a key of the profile. */
  readonly attribute: string;
  readonly inProfile: boolean;
  readonly values: readonly string[];
}

/** Where a page starts: behind this user. */
export type CohortPosition = readonly [displayName: string, userId: string];

/** Suggestions of role mining, and the users in their cohorts. */
export interface Cohorts {
  /** One that is there stays as it is. */
  add(suggestion: { id: string; createdAt: number; displayName: string }): void;
  addMember(suggestionId: string, user: Pick<User, "id" | "displayName">): void;
  has(suggestionId: string): boolean;
  /** Users of a cohort in the order of display name and id. */
  search(
    suggestionId: string,
    filters: readonly CohortFilter[],
    after: CohortPosition,
    limit: number,
  ): User[];
}

/** Names of a user's fields. What a caller writes is part of a JSON path only if it is one of them. */
const FIELDS = new Set(Object.keys(openApiDocument.components.schemas.User?.properties ?? {}));

/** Lists match if one of their values does; booleans and numbers as JSON writes them. */
const AS_TEXT =
  "CASE v.type WHEN 'true' THEN 'true' WHEN 'false' THEN 'false' ELSE CAST(v.value AS TEXT) END";
const VALUES = "(SELECT value FROM json_each(?))";
const FIELD = `EXISTS (SELECT 1 FROM json_each(u.document, ?) v WHERE ${AS_TEXT} IN ${VALUES})`;
const PROFILE = `EXISTS (SELECT 1 FROM json_each(u.document, '$.profile') p,
  json_each(CASE p.type WHEN 'array' THEN p.value ELSE json_array(p.value) END) v
  WHERE p.key = ? AND CASE p.type WHEN 'true' THEN 'true' WHEN 'false' THEN 'false'
    ELSE CAST(v.value AS TEXT) END IN ${VALUES})`;

/** The cohorts of a database. */
export function cohorts(db: Database): Cohorts {
  const insert = db.prepare(
    "INSERT INTO suggestions (id, created_at, display_name) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
  );
  const insertMember = db.prepare(
    "INSERT INTO cohort_members (suggestion_id, display_name, user_id) VALUES (?, ?, ?)",
  );
  const exists = db.prepare("SELECT 1 FROM suggestions WHERE id = ?");
  const searches = new Map<string, Statement>();
  const searchFor = (filters: readonly CohortFilter[]): Statement => {
    const conditions = filters.map(({ inProfile }) => `AND ${inProfile ? PROFILE : FIELD}`).join(" ");
    let statement = searches.get(conditions);
    if (!statement) {
      statement = db.prepare(`SELECT u.document FROM cohort_members m JOIN users u ON u.id = m.user_id
        WHERE m.suggestion_id = ? AND (m.display_name, m.user_id) > (?, ?) ${conditions}
        ORDER BY m.display_name, m.user_id LIMIT ?`);
      // Which kinds of filter follow on one another is the caller's choice; the common ones are kept.
      if (searches.size < 64) searches.set(conditions, statement);
    }
    return statement;
  };
  return {
    add: ({ id, createdAt, displayName }) => void insert.all(id, createdAt, displayName),
    addMember: (suggestionId, { id, displayName }) => void insertMember.all(suggestionId, displayName, id),
    has: (suggestionId) => exists.all(suggestionId).length > 0,
    search(suggestionId, filters, after, limit) {
      if (filters.some(({ attribute, inProfile }) => !inProfile && !FIELDS.has(attribute))) return [];
      const values = filters.flatMap(({ attribute, inProfile, values }) => [
        inProfile ? attribute : `$.${attribute}`,
        JSON.stringify(values),
      ]);
      const rows = searchFor(filters).all(suggestionId, ...after, ...values, limit) as Stored[];
      return rows.map(({ document }) => JSON.parse(document) as User);
    },
  };
}
