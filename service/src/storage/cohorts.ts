// Suggestions of role mining in the database.
import type { Schemas } from "../api/validation.js";
import type { Database, Statement } from "./database.js";
import type { Stored } from "./document.js";
import { filterSql, filterValues, isAttribute, type UserFilter } from "./user-filter.js";

type User = Schemas["User"];

/** Where a page starts: behind this user. */
export type CohortPosition = readonly [displayName: string, userId: string];

/** Suggestions of role mining, and the users in their cohorts. */
export interface Cohorts {
  /** One that is there stays as it is. */
  add(suggestion: { id: string; createdAt: number; displayName: string }): void;
  addMember(suggestionId: string, user: Pick<User, "id" | "displayName">): void;
  has(suggestionId: string): boolean;
  /** Users of a cohort in the order of display name and id. */
  search(suggestionId: string, filters: readonly UserFilter[], after: CohortPosition, limit: number): User[];
}

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
  const searchFor = (filters: readonly UserFilter[]): Statement => {
    const conditions = filters.map((filter) => `AND ${filterSql(filter)}`).join(" ");
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
      if (!filters.every(isAttribute)) return [];
      const values = filters.flatMap(filterValues);
      const rows = searchFor(filters).all(suggestionId, ...after, ...values, limit) as Stored[];
      return rows.map(({ document }) => JSON.parse(document) as User);
    },
  };
}
