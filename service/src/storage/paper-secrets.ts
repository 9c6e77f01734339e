// Paper secrets in the database.
import { type Database, first } from "./database.js";

/** A paper secret as it is kept: its text encrypted, or the key of its file in the object store. */
export interface PaperSecret {
  readonly id: string;
  readonly createdAt: number;
  readonly creatorUserId: string;
  readonly access: "INTERNAL" | "EXTERNAL";
  /** Who may view an INTERNAL one. */
  readonly allowedUserIds: readonly string[];
  readonly content: { readonly ciphertext: Uint8Array } | { readonly objectKey: string } | undefined;
  readonly inputFormat: string;
  readonly filename: string;
  /** -1 is without limit. */
  readonly viewsRemaining: number;
  readonly expiresAt?: number | undefined;
  readonly revokedAt?: number | undefined;
}

/** Paper secrets (specification 4.1). */
export interface PaperSecrets {
  add(secret: PaperSecret): void;
  get(id: string): PaperSecret | undefined;
  /** Whether it is there, not revoked and not expired; the views that are left do not count. */
  isOpen(id: string, now: number): boolean;
  /**
   * Uses up one view, at once and for nobody else: how many are left after it, or undefined where there was none.
   * The text of the last view is erased.
   */
  takeView(id: string, now: number): number | undefined;
  /** Erases the text, and ends the views; false if that was done before. */
  revoke(id: string, now: number): boolean;
}

interface PaperSecretRow {
  id: string;
  created_at: number;
  creator_user_id: string;
  access: "INTERNAL" | "EXTERNAL";
  allowed_user_ids: string;
  input_format: string;
  /** `libsql` gives an ArrayBuffer, `node:sqlite` a Uint8Array. */
  ciphertext: Uint8Array<ArrayBuffer> | ArrayBuffer | null;
  object_key: string | null;
  filename: string;
  views_remaining: number;
  expires_at: number | null;
  revoked_at: number | null;
}

/** The paper secrets of a database. */
export function paperSecrets(db: Database): PaperSecrets {
  const insert = db.prepare(`INSERT INTO paper_secrets
    (id, created_at, creator_user_id, secret_type, access, allowed_user_ids, input_format, ciphertext, object_key,
     filename, views_remaining, expires_at, revoked_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  const select = db.prepare("SELECT * FROM paper_secrets WHERE id = ?");
  const take = db.prepare(`UPDATE paper_secrets SET
      views_remaining = CASE views_remaining WHEN -1 THEN -1 ELSE views_remaining - 1 END,
      ciphertext = CASE views_remaining WHEN 1 THEN NULL ELSE ciphertext END
    WHERE id = ? AND views_remaining <> 0 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?)
    RETURNING views_remaining`);
  const open = db.prepare(
    "SELECT 1 FROM paper_secrets WHERE id = ? AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?)",
  );
  const revoke = db.prepare(
    "UPDATE paper_secrets SET revoked_at = ?, ciphertext = NULL WHERE id = ? AND revoked_at IS NULL RETURNING id",
  );
  return {
    add(secret) {
      const { content } = secret;
      const isFile = content !== undefined && "objectKey" in content;
      insert.all(
        secret.id,
        secret.createdAt,
        secret.creatorUserId,
        isFile ? "SECRET_TYPE_FILE" : "SECRET_TYPE_TEXT",
        secret.access,
        JSON.stringify(secret.allowedUserIds),
        secret.inputFormat,
        // `libsql` takes nothing but a Buffer.
        content && "ciphertext" in content ? Buffer.from(content.ciphertext) : null,
        isFile ? content.objectKey : null,
        secret.filename,
        secret.viewsRemaining,
        secret.expiresAt ?? null,
        secret.revokedAt ?? null,
      );
    },
    get(id) {
      const row = first<PaperSecretRow>(select.all(id));
      return row && secretOf(row);
    },
    isOpen: (id, now) => open.all(id, now).length > 0,
    takeView: (id, now) => first<{ views_remaining: number }>(take.all(id, now))?.views_remaining,
    revoke: (id, now) => revoke.all(now, id).length > 0,
  };
}

function secretOf(row: PaperSecretRow): PaperSecret {
  const { ciphertext, object_key: objectKey } = row;
  return {
    id: row.id,
    createdAt: row.created_at,
    creatorUserId: row.creator_user_id,
    access: row.access,
    allowedUserIds: JSON.parse(row.allowed_user_ids) as string[],
    content:
      objectKey === null
        ? ciphertext === null
          ? undefined
          : { ciphertext: new Uint8Array(ciphertext) }
        : { objectKey },
    inputFormat: row.input_format,
    filename: row.filename,
    viewsRemaining: row.views_remaining,
    expiresAt: row.expires_at ?? undefined,
    revokedAt: row.revoked_at ?? undefined,
  };
}
