// Automations and their listeners in the database.
import type { AutomationInput, Trigger } from "../automations/automation.js";
import { type Database, first } from "./database.js";

/** An automation as it is kept. */
export interface StoredAutomation extends AutomationInput {
  readonly id: string;
  /** In the path its events are sent to. */
  readonly listenerId: string;
  /** Only where the trigger is HMAC. It leaves the service once, when it is made. */
  readonly hmacSecret: string | undefined;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** Where a page starts: behind this automation. */
export type AutomationPosition = readonly [createdAt: number, id: string];

/** Automations, and the webhook listeners that belong to them. */
export interface Automations {
  /** Keeps an automation, in the place of one with the same id. */
  put(automation: StoredAutomation): void;
  get(id: string): StoredAutomation | undefined;
  ofListener(listenerId: string): StoredAutomation | undefined;
  /** Automations in the order they were made. */
  list(after: AutomationPosition, limit: number): StoredAutomation[];
  /** Removes an automation with its runs; false if there is none. */
  remove(id: string): boolean;
}

/** The automations of a database. */
export function automations(db: Database): Automations {
  const upsert = db.prepare(`INSERT INTO automations
    (id, created_at, updated_at, display_name, published, enabled, listener_id, hmac_secret, jwks_url, allowed_cidrs, steps)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (id) DO UPDATE SET updated_at = excluded.updated_at, display_name = excluded.display_name,
      published = excluded.published, enabled = excluded.enabled, hmac_secret = excluded.hmac_secret,
      jwks_url = excluded.jwks_url, allowed_cidrs = excluded.allowed_cidrs, steps = excluded.steps`);
  const selectById = db.prepare("SELECT * FROM automations WHERE id = ?");
  const selectByListener = db.prepare("SELECT * FROM automations WHERE listener_id = ?");
  const selectPage = db.prepare(
    "SELECT * FROM automations WHERE (created_at, id) > (?, ?) ORDER BY created_at, id LIMIT ?",
  );
  const remove = db.prepare("DELETE FROM automations WHERE id = ? RETURNING id");
  const one = (rows: unknown[]) => {
    const row = first<AutomationRow>(rows);
    return row && automationOf(row);
  };
  return {
    put(automation) {
      upsert.all(
        automation.id,
        automation.createdAt,
        automation.updatedAt,
        automation.displayName,
        Number(automation.published),
        Number(automation.enabled),
        automation.listenerId,
        automation.hmacSecret ?? null,
        automation.trigger.jwt?.jwksUrl ?? null,
        JSON.stringify(automation.allowedCidrs),
        JSON.stringify(automation.steps),
      );
    },
    get: (id) => one(selectById.all(id)),
    ofListener: (listenerId) => one(selectByListener.all(listenerId)),
    list: (after, limit) => (selectPage.all(...after, limit) as AutomationRow[]).map(automationOf),
    remove: (id) => remove.all(id).length > 0,
  };
}

interface AutomationRow {
  id: string;
  created_at: number;
  updated_at: number;
  display_name: string;
  published: number;
  enabled: number;
  listener_id: string;
  hmac_secret: string | null;
  jwks_url: string | null;
  allowed_cidrs: string;
  steps: string;
}

function automationOf(row: AutomationRow): StoredAutomation {
  const trigger: Trigger = row.jwks_url === null ? { hmac: {} } : { jwt: { jwksUrl: row.jwks_url } };
  return {
    id: row.id,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    displayName: row.display_name,
    published: row.published === 1,
    enabled: row.enabled === 1,
    listenerId: row.listener_id,
    hmacSecret: row.hmac_secret ?? undefined,
    trigger,
    allowedCidrs: JSON.parse(row.allowed_cidrs),
    steps: JSON.parse(row.steps),
  };
}
