// Writes what is stored as a fixture, which gives the same state when it is loaded.
import { setImmediate as nextTurn } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { openApiDocument, resolved, type Schema } from "../api/openapi-document.js";
import { completed, type Schemas } from "../api/validation.js";
import type { SecretTools } from "../secrets/create-secret.js";
import { HIDDEN } from "../server/hidden-secrets.js";
import { type AllRows, allRows } from "../storage/all-rows.js";
import type { StoredAutomation } from "../storage/automations.js";
import type { Client } from "../storage/clients.js";
import { type Stored, timestamp } from "../storage/document.js";
import type { PaperSecret } from "../storage/paper-secrets.js";
import type { Storage } from "../storage/storage.js";
import { FIXTURE_VERSION, type Fixture, type FixtureAutomation, type FixtureSecret } from "./fixture.js";
import { StateError } from "./state-error.js";

/** How a state is exported. */
export interface ExportOptions {
  /**
   * Texts and files of paper secrets and the signing secrets of automations in clear. By default `[hidden]` stands for
   * the contents, and signing secrets are left out, so that loading it makes new ones.
   */
  withSecrets?: boolean | undefined;
}

/** What an export reads. */
interface ExportContext {
  readonly storage: Storage;
  readonly secrets: SecretTools;
  /** The id of the client there always is. */
  readonly clientId: string;
}

/** The largest file of a paper secret that an export takes: in base64 it is text that somebody reads. */
const MAX_FILE_BYTES = 8 * 2 ** 20;

/** The files of an export together: all of it is in memory at once. */
const MAX_FILES_BYTES = 64 * 2 ** 20;

/** Stands for a file's bytes. */
export const HIDDEN_FILE = Buffer.from(HIDDEN).toString("base64");

/** How many resources are written before others have a turn. */
const TURN = 500;

type Resource = Record<string, unknown>;

/**
 * The state as a fixture: lists in the order of ids, members in the order of the document, and without what is a
 * default, so that the same state is the same text.
 *
 * @throws {StateError} FILE_TOO_LARGE with `withSecrets`, for a file above 8 MiB, or files above 64 MiB together
 */
export async function exportState(
  context: ExportContext,
  { withSecrets = false }: ExportOptions = {},
): Promise<Fixture> {
  const rows = allRows(context.storage);
  const known = new Set<string>();
  const users = await each(rows.users, ({ document }) => {
    const user = written("User", JSON.parse(document) as Schemas["User"]);
    known.add(String(user.id));
    return user;
  });
  const secrets: FixtureSecret[] = [];
  let length = 0;
  for (const secret of rows.secrets) {
    const one = await secretOf(context, secret, known, withSecrets);
    secrets.push(one);
    length += Buffer.byteLength(one.file?.contentBase64 ?? "", "base64");
    if (length > MAX_FILES_BYTES)
      throw new StateError(
        "FILE_TOO_LARGE",
        `The files of secrets are together larger than ${MAX_FILES_BYTES} bytes, which an export takes.`,
      );
  }
  const fixture = {
    users,
    clients: rows.clients
      .filter((client) => isOfState(client, context.clientId))
      .map((client) => clientOf(client, context.clientId)),
    authConfigs: await each(rows.authConfigs, authConfigOf),
    apps: await appsOf(rows),
    suggestions: suggestionsOf(rows),
    secrets,
    automations: rows.automations.map((automation) => automationOf(automation, withSecrets)),
    bridges: bridgesOf(rows),
  };
  const full = Object.entries(fixture).filter(([, list]) => list.length > 0);
  return { version: FIXTURE_VERSION, ...Object.fromEntries(full) } as Fixture;
}

async function each<Row, Result>(rows: readonly Row[], make: (row: Row) => Result): Promise<Result[]> {
  const made: Result[] = [];
  for (const [index, row] of rows.entries()) {
    if (index % TURN === TURN - 1) await nextTurn();
    made.push(make(row));
  }
  return made;
}

/** A resource in the order of its schema, without what is a default; `isSame` says that loading it gives it back. */
function written<Name extends keyof Schemas & string>(
  name: Name,
  resource: Schemas[Name] & object,
  without: readonly string[] = [],
): Resource {
  const short = withoutDefaults(resource, openApiDocument.components.schemas[name] ?? {}) as Resource;
  // Defaults of a part that is missing as a whole are not filled in: such a resource is written in full.
  const isSame = isDeepStrictEqual(completed(name, structuredClone(short)), resource);
  const { id, ...rest } = isSame ? short : (resource as Resource);
  for (const member of without) delete rest[member];
  return { id, ...rest };
}

function withoutDefaults(value: unknown, schema: Schema): unknown {
  const { properties, items } = resolved(schema) as {
    properties?: Readonly<Record<string, Schema>>;
    items?: Schema;
  };
  if (Array.isArray(value)) return items ? value.map((one) => withoutDefaults(one, items)) : value;
  if (typeof value !== "object" || value === null || properties === undefined) return value;
  const members = value as Resource;
  const names = new Set([
    ...Object.keys(properties).filter((name) => name in members),
    ...Object.keys(members),
  ]);
  const kept: [string, unknown][] = [];
  for (const name of names) {
    const known = Object.hasOwn(properties, name) ? (properties[name] as Schema) : undefined;
    if (known !== undefined && "default" in known && isDeepStrictEqual(known.default, members[name]))
      continue;
    kept.push([name, known ? withoutDefaults(members[name], known) : members[name]]);
  }
  return Object.fromEntries(kept);
}

/**
 * Clients that were made for one token cannot get another: they are not of the state. Nor is the client there always is,
 * unless it acts as a user.
 */
function isOfState({ clientId, userId }: Client, admin: string): boolean {
  return !clientId.startsWith("minted:") && (clientId !== admin || userId !== "");
}

function clientOf({ clientId, displayName, role, userId, secretHash, publicJwk }: Client, admin: string) {
  return {
    id: clientId,
    ...(displayName === "" ? {} : { displayName }),
    ...(role === "member" ? {} : { role }),
    ...(userId === "" ? {} : { userId }),
    // The secret of the client there always is belongs to the database, and not to its state.
    ...(secretHash === undefined || clientId === admin ? {} : { secretHash }),
    ...(publicJwk === undefined ? {} : { publicJwk: JSON.parse(publicJwk) as Record<string, unknown> }),
  };
}

function authConfigOf({ document }: Stored): Resource {
  const config = JSON.parse(document) as Schemas["AuthConfig"];
  const { id, ...rest } = written("AuthConfig", config);
  // Left out it would be that of the provider.
  return { id, providerType: config.providerType, ...rest };
}

function named({ id, display_name: displayName, created_at: at }: AllRows["apps"][number]) {
  return { id, ...(displayName === "" ? {} : { displayName }), createdAt: timestamp(at) };
}

/** Lists next to a name, without those that are empty. */
function withLists<Given extends object>(
  given: Given,
  lists: Readonly<Record<string, readonly unknown[] | undefined>>,
) {
  const full = Object.entries(lists).filter(([, list]) => list !== undefined && list.length > 0);
  return { ...given, ...Object.fromEntries(full) };
}

async function appsOf(rows: AllRows) {
  const types = grouped(rows.resourceTypes, (one) => one.app_id);
  const entitlements = grouped(rows.entitlements, (one) => one.app_id);
  const entitlementOwners = grouped(rows.entitlementOwners, (one) => one.app_id);
  const grants = grouped(rows.grants, (one) => one.app_id);
  const appUsers = grouped(rows.appUsers, (one) => one.app_id);
  const userOwners = grouped(rows.userOwners, (one) => JSON.stringify([one.app_id, one.app_user_id]));
  const apps = [];
  for (const app of rows.apps) {
    const resourceTypes = await each(types.get(app.id) ?? [], ({ document, manually_managed }) => ({
      ...written("AppResourceType", JSON.parse(document) as Schemas["AppResourceType"], ["appId"]),
      ...(manually_managed === 1 ? {} : { manuallyManaged: false }),
    }));
    const owned = await each(entitlements.get(app.id) ?? [], ({ document }) =>
      written("AppEntitlement", JSON.parse(document) as Schemas["AppEntitlement"], ["appId"]),
    );
    const owners = entitlementOwners.get(app.id)?.map((one) => ({
      roleSlug: one.role_slug,
      appId: one.entitlement_app_id,
      entitlementId: one.entitlement_id,
      createdAt: timestamp(one.created_at),
    }));
    const granted = await each(grants.get(app.id) ?? [], (one) => ({
      entitlementId: one.entitlement_id,
      userId: one.user_id,
      createdAt: timestamp(one.created_at),
    }));
    const users = await each(appUsers.get(app.id) ?? [], (user) =>
      withLists(named(user), {
        owners: userOwners.get(JSON.stringify([app.id, user.id]))?.map((one) => ({
          roleSlug: one.role_slug,
          userId: one.user_id,
          createdAt: timestamp(one.created_at),
        })),
      }),
    );
    apps.push(
      withLists(named(app), {
        resourceTypes,
        entitlements: owned,
        entitlementOwners: owners,
        grants: granted,
        users,
      }),
    );
  }
  return apps;
}

function grouped<Row>(rows: readonly Row[], keyOf: (row: Row) => string): Map<string, Row[]> {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const key = keyOf(row);
    const group = groups.get(key);
    if (group) group.push(row);
    else groups.set(key, [row]);
  }
  return groups;
}

function suggestionsOf({ suggestions, members }: AllRows) {
  const of = grouped(members, (one) => one.suggestion_id);
  return suggestions.map((one) =>
    withLists(named(one), { userIds: of.get(one.id)?.map(({ user_id }) => user_id) }),
  );
}

function bridgesOf({ bridges, credentials }: AllRows) {
  const of = grouped(credentials, (one) => one.bridge_id);
  return bridges.map((one) =>
    withLists(named(one), {
      credentials: of
        .get(one.id)
        ?.map(({ document }) =>
          written("TunnelCredential", JSON.parse(document) as Schemas["TunnelCredential"], ["bridgeId"]),
        ),
    }),
  );
}

function automationOf(automation: StoredAutomation, withSecrets: boolean): FixtureAutomation {
  const { id, displayName, listenerId, hmacSecret, trigger, allowedCidrs, published, enabled } = automation;
  return {
    id,
    ...(displayName === "" ? {} : { displayName }),
    listenerId,
    ...(withSecrets && hmacSecret !== undefined ? { signingSecret: hmacSecret } : {}),
    trigger: trigger as FixtureAutomation["trigger"],
    ...(allowedCidrs.length > 0 ? { allowedCidrs: [...allowedCidrs] } : {}),
    ...(published ? {} : { published }),
    ...(enabled ? {} : { enabled }),
    ...(automation.steps.length > 0 ? { steps: automation.steps.map(stepOf) } : {}),
    createdAt: timestamp(automation.createdAt),
    updatedAt: timestamp(automation.updatedAt),
  };
}

function stepOf({ name, condition, templates }: StoredAutomation["steps"][number]) {
  return {
    name,
    ...(condition === "" ? {} : { condition }),
    ...(Object.keys(templates).length > 0 ? { templates: templates as Record<string, unknown> } : {}),
  };
}

async function secretOf(
  { secrets }: ExportContext,
  secret: PaperSecret,
  users: ReadonlySet<string>,
  withSecrets: boolean,
): Promise<FixtureSecret> {
  const { id, creatorUserId, access, inputFormat, viewsRemaining, expiresAt, revokedAt } = secret;
  const content = await contentOf(secrets, secret, withSecrets);
  // One who is gone can view nothing, and a fixture with nobody's id would be refused.
  const allowedUserIds = secret.allowedUserIds.filter((userId) => users.has(userId));
  return {
    id,
    creatorUserId,
    ...(access === "EXTERNAL" ? {} : { access }),
    ...(allowedUserIds.length > 0 ? { allowedUserIds } : {}),
    ...content,
    ...("file" in content || inputFormat === "SECRET_INPUT_FORMAT_PLAINTEXT" ? {} : { inputFormat }),
    ...(viewsRemaining === -1 ? {} : { views: viewsRemaining }),
    createdAt: timestamp(secret.createdAt),
    ...(expiresAt === undefined ? {} : { expiresAt: timestamp(expiresAt) }),
    ...(revokedAt === undefined ? {} : { revokedAt: timestamp(revokedAt) }),
  } as FixtureSecret;
}

async function contentOf(
  { vault, objects }: SecretTools,
  { id, content, filename }: PaperSecret,
  withSecrets: boolean,
): Promise<Pick<FixtureSecret, "text" | "file">> {
  if (content === undefined) return {};
  if ("ciphertext" in content) return { text: withSecrets ? await vault.open(content.ciphertext) : HIDDEN };
  if (!withSecrets) return { file: { filename, contentBase64: HIDDEN_FILE } };
  const bytes = await objects.read(content.objectKey, MAX_FILE_BYTES);
  if (bytes === "too large")
    throw new StateError(
      "FILE_TOO_LARGE",
      `The file of the secret ${id} is larger than ${MAX_FILE_BYTES} bytes, which an export takes.`,
    );
  return { file: { filename, contentBase64: Buffer.from(bytes ?? []).toString("base64") } };
}
