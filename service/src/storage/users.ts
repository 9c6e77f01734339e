// Users in the database.
import type { Schemas } from "../api/validation.js";
import { type Database, first, type Statement } from "./database.js";
import { createdAt, type Stored } from "./document.js";
import { filterSql, filterValues, isAttribute, type UserFilter } from "./user-filter.js";

type User = Schemas["User"];

/** Users (specification 2.4). */
export interface Users {
  add(user: User): void;
  get(id: string): User | undefined;
  /** The user with an email, in whatever case its letters are; of several, the one created first. An empty one is nobody's. */
  ofEmail(email: string): User | undefined;
  /** The user with a display name; of several, the one created first. An empty one is nobody's. */
  ofName(displayName: string): User | undefined;
  /**
   * Looks at the next users behind a place, which is 0 at first, for those that fit. A database of any size is searched
   * part by part, so that others are answered between the parts.
   */
  searchPart(filter: UserFilter, after: number): UserSearchPart;
  /** The user is gone from every cohort too. One who owns something cannot be deleted. */
  delete(id: string): boolean;
}

/** What a part of the users holds. */
interface UserSearchPart {
  readonly found: readonly User[];
  /** Where the next part begins; absent behind the last one. */
  readonly next: number | undefined;
}

/** How many users are looked at in one part: some milliseconds. */
const PART = 1_000;

/** The users of a database. */
export function users(db: Database): Users {
  const insert = db.prepare(
    "INSERT INTO users (id, created_at, display_name, email, document) VALUES (?, ?, ?, ?, ?)",
  );
  const select = db.prepare("SELECT document FROM users WHERE id = ?");
  const selectByEmail = db.prepare(
    "SELECT document FROM users WHERE email = ? COLLATE NOCASE ORDER BY created_at, id LIMIT 1",
  );
  const selectByName = db.prepare(
    "SELECT document FROM users WHERE display_name = ? ORDER BY created_at, id LIMIT 1",
  );
  const selectEnd = db.prepare(
    "SELECT max(rowid) AS last, count(*) AS n FROM (SELECT rowid FROM users WHERE rowid > ? ORDER BY rowid LIMIT ?)",
  );
  const byFilter = new Map<string, Statement>();
  const searchOf = (filter: UserFilter): Statement => {
    const condition = filterSql(filter);
    const known = byFilter.get(condition);
    if (known) return known;
    const made = db.prepare(
      `SELECT u.document FROM users u WHERE u.rowid > ? AND u.rowid <= ? AND ${condition} ORDER BY u.rowid`,
    );
    byFilter.set(condition, made);
    return made;
  };
  const remove = db.prepare("DELETE FROM users WHERE id = ? RETURNING id");
  return {
    add: (user) =>
      void insert.all(user.id, createdAt(user), user.displayName, user.email, JSON.stringify(user)),
    get: (id) => one(select.all(id)),
    ofEmail: (email) => (email === "" ? undefined : one(selectByEmail.all(email))),
    ofName: (displayName) => (displayName === "" ? undefined : one(selectByName.all(displayName))),
    searchPart(filter, after) {
      if (!isAttribute(filter)) return { found: [], next: undefined };
      const { last, n } = selectEnd.all(after, PART)[0] as { last: number | null; n: number };
      if (last === null) return { found: [], next: undefined };
      const rows = searchOf(filter).all(after, last, ...filterValues(filter)) as Stored[];
      return { found: rows.map(userOf), next: n < PART ? undefined : last };
    },
    delete: (id) => remove.all(id).length > 0,
  };
}

function one(rows: unknown[]): User | undefined {
  const row = first<Stored>(rows);
  return row && userOf(row);
}

function userOf({ document }: Stored): User {
  return JSON.parse(document) as User;
}
