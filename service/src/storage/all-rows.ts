// Reads everything that a state is made of, at one moment.
import type { StoredAutomation } from "./automations.js";
import type { Client } from "./clients.js";
import { BEFORE_ALL, type Stored } from "./document.js";
import type { PaperSecret } from "./paper-secrets.js";
import type { Storage } from "./storage.js";

/** An app, a suggestion or a bridge. */
interface NamedRow {
  readonly id: string;
  readonly created_at: number;
  readonly display_name: string;
}

/** Every row of the state, in the order of ids; documents are still JSON, so that reading them holds nothing up. */
export interface AllRows {
  readonly users: readonly Stored[];
  readonly clients: readonly Client[];
  readonly authConfigs: readonly Stored[];
  readonly apps: readonly NamedRow[];
  readonly resourceTypes: readonly (Stored & { app_id: string; manually_managed: number })[];
  readonly entitlements: readonly (Stored & { app_id: string })[];
  readonly entitlementOwners: readonly {
    readonly app_id: string;
    readonly role_slug: string;
    readonly entitlement_app_id: string;
    readonly entitlement_id: string;
    readonly created_at: number;
  }[];
  readonly grants: readonly {
    readonly app_id: string;
    readonly entitlement_id: string;
    readonly user_id: string;
    readonly created_at: number;
  }[];
  readonly appUsers: readonly (NamedRow & { app_id: string })[];
  readonly userOwners: readonly {
    readonly app_id: string;
    readonly app_user_id: string;
    readonly role_slug: string;
    readonly user_id: string;
    readonly created_at: number;
  }[];
  readonly suggestions: readonly NamedRow[];
  readonly members: readonly { readonly suggestion_id: string; readonly user_id: string }[];
  readonly bridges: readonly NamedRow[];
  readonly credentials: readonly (Stored & { bridge_id: string })[];
  readonly secrets: readonly PaperSecret[];
  readonly automations: readonly StoredAutomation[];
}

/** The tables that grow with a state. */
const COUNTED = [
  "users",
  "clients",
  "auth_configs",
  "resource_types",
  "entitlements",
  "entitlement_owners",
  "app_users",
  "app_user_owners",
  "grants",
  "cohort_members",
  "tunnel_credentials",
  "paper_secrets",
];

/** How many rows a state has, for a limit; what is next to these tables is few. */
export function rowCount({ db }: Pick<Storage, "db">): number {
  const sum = COUNTED.map((table) => `(SELECT count(*) FROM ${table})`).join(" + ");
  const [row] = db.prepare(`SELECT ${sum} AS rows`).all() as { rows: number }[];
  return row?.rows ?? 0;
}

/** Everything that a state is made of, as one transaction sees it. */
export function allRows(storage: Storage): AllRows {
  const { db } = storage;
  const rows = <Row>(sql: string): Row[] => db.prepare(sql).all() as Row[];
  const every = <Row>(table: string, order = "id"): Row[] =>
    rows<Row>(`SELECT * FROM ${table} ORDER BY ${order}`);
  const found = <Thing>(table: string, get: (id: string) => Thing | undefined): Thing[] =>
    rows<{ id: string }>(`SELECT id FROM ${table} ORDER BY id`).flatMap(({ id }) => get(id) ?? []);
  return db.reading(() => ({
    users: every("users"),
    clients: found("clients", storage.clients.get),
    authConfigs: every("auth_configs"),
    apps: every("apps"),
    resourceTypes: every("resource_types", "app_id, id"),
    entitlements: every("entitlements", "app_id, id"),
    entitlementOwners: every("entitlement_owners", "app_id, role_slug, entitlement_app_id, entitlement_id"),
    grants: every("grants", "app_id, entitlement_id, user_id"),
    appUsers: every("app_users", "app_id, id"),
    userOwners: every("app_user_owners", "app_id, app_user_id, role_slug, user_id"),
    suggestions: every("suggestions"),
    members: every("cohort_members", "suggestion_id, user_id"),
    bridges: every("bridges"),
    credentials: every("tunnel_credentials", "bridge_id, id"),
    secrets: found("paper_secrets", storage.paperSecrets.get),
    automations: storage.automations
      .list([BEFORE_ALL, ""], Number.MAX_SAFE_INTEGER)
      .toSorted((a, b) => (a.id < b.id ? -1 : 1)),
  }));
}
