// Stored ids that an operation can be called with.
import { type Database, first } from "./database.js";

/** Values for the path of an operation, by the names of its parameters. */
type PathValues = Readonly<Record<string, string>>;

/** What each operation can be tried out with, as a query whose columns have the names of its path's parameters. */
const QUERIES = {
  viewSecret: `SELECT id AS vault_id FROM paper_secrets
    WHERE ciphertext IS NOT NULL AND views_remaining <> 0 AND expires_at IS NULL AND access = 'EXTERNAL'
    ORDER BY views_remaining = -1 DESC, created_at, id`,
  // The one that is deleted is another than the one that is read.
  deleteAuthConfig: "SELECT id FROM auth_configs ORDER BY created_at DESC, id DESC",
  getAuthConfig: "SELECT id FROM auth_configs ORDER BY created_at, id",
  updateResourceType:
    "SELECT app_id, id FROM resource_types WHERE manually_managed = 1 ORDER BY created_at, app_id, id",
  searchCohortUsers: "SELECT id AS suggestion_id FROM suggestions ORDER BY created_at, id",
  getEntitlementOwner: `SELECT app_id, role_slug, entitlement_app_id AS app_entitlement_ref_app_id,
    entitlement_id AS app_entitlement_ref_id FROM entitlement_owners ORDER BY created_at, app_id, role_slug`,
  searchUserOwners: "SELECT app_id, app_user_id AS user_id FROM app_user_owners ORDER BY created_at, app_id",
  listBridgeCredentials: "SELECT id AS bridge_id FROM bridges ORDER BY created_at, id",
  receiveWebhook: `SELECT listener_id FROM automations
    WHERE published = 1 AND enabled = 1 AND hmac_secret IS NOT NULL ORDER BY created_at, id`,
} as const;

/** Values of the stored state that an operation can be called with; undefined where there are none. */
export function examplePath(db: Database, operation: string): PathValues | undefined {
  if (!(operation in QUERIES)) return {};
  return first<PathValues>(db.prepare(`${QUERIES[operation as keyof typeof QUERIES]} LIMIT 1`).all());
}
