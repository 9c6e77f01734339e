// Audit events in the database.
import type { Schemas } from "../api/validation.js";
import type { Database } from "./database.js";
import { type Stored, timestamp } from "./document.js";

/** What happened to a paper secret, and who did it. */
export interface AuditRecord {
  readonly activity: Schemas["AuditActivity"];
  readonly vaultId: string;
  /** Empty where nobody was told apart. */
  readonly actorUserId: string;
  readonly actorEmail: string;
  readonly clientIp: string;
  readonly at: number;
}

/** What is searched for; an empty text is anything. */
interface AuditFilter {
  readonly vaultId: string;
  readonly actorUserId: string;
  /** Part of the address, in capitals or not. */
  readonly actorEmail: string;
  readonly clientIp: string;
}

/** Where a page starts: behind this event. */
export type AuditPosition = readonly [createdAt: number, id: number];

/** An event, and its place in the order. */
interface FoundEvent {
  readonly event: Schemas["AuditEvent"];
  readonly position: AuditPosition;
}

/** Audit events of paper secrets (specification 4.6). */
export interface AuditEvents {
  add(record: AuditRecord): void;
  /** Events in the order they happened. */
  search(filter: AuditFilter, after: AuditPosition, limit: number): FoundEvent[];
}

/** The audit events of a database. */
export function auditEvents(db: Database): AuditEvents {
  const insert = db.prepare(`INSERT INTO audit_events
    (created_at, activity_name, vault_id, actor_user_id, actor_email, client_ip, document)
    VALUES (?, ?, ?, ?, ?, ?, ?)`);
  const select = (indexed: string) =>
    db.prepare(`SELECT id, created_at, document FROM audit_events
      WHERE ${indexed} AND (created_at, id) > (?, ?) AND (? = '' OR actor_user_id = ?)
        AND instr(lower(actor_email), lower(?)) > 0 AND (? = '' OR client_ip = ?)
      ORDER BY created_at, id LIMIT ?`);
  const ofSecret = select("vault_id = ?");
  const ofAny = select("? = ''");
  return {
    add(record) {
      const { activity, vaultId, actorUserId, actorEmail, clientIp, at } = record;
      const document = JSON.stringify(eventOf(record));
      insert.all(at, activity, vaultId, actorUserId, actorEmail, clientIp, document);
    },
    search({ vaultId, actorUserId, actorEmail, clientIp }, after, limit) {
      const statement = vaultId === "" ? ofAny : ofSecret;
      const rows = statement.all(
        vaultId,
        ...after,
        actorUserId,
        actorUserId,
        actorEmail,
        clientIp,
        clientIp,
        limit,
      );
      return (rows as (Stored & { id: number; created_at: number })[]).map((row) => ({
        event: JSON.parse(row.document) as Schemas["AuditEvent"],
        position: [row.created_at, row.id],
      }));
    },
  };
}

/** An event in the style of OCSF. */
function eventOf(record: AuditRecord): Schemas["AuditEvent"] {
  return {
    activity_name: record.activity,
    time: timestamp(record.at),
    actor: { user: { uid: record.actorUserId, email_addr: record.actorEmail } },
    src_endpoint: { ip: record.clientIp },
    resources: [{ uid: record.vaultId }],
  };
}
