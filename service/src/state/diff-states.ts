// Names what differs between two states.
import { isDeepStrictEqual } from "node:util";
import { completed } from "../api/validation.js";
import { HIDDEN, isSecretName } from "../server/hidden-secrets.js";
import { instant } from "../storage/document.js";
import { completeAuthConfig } from "./auth-config.js";
import { HIDDEN_FILE } from "./export-state.js";
import type { Fixture, FixtureApp } from "./fixture.js";
import { shapedFixture } from "./fixture-mistakes.js";

/** The kinds of things in a state. */
export type StateRoom =
  | "users"
  | "clients"
  | "authConfigs"
  | "apps"
  | "resourceTypes"
  | "entitlements"
  | "entitlementOwners"
  | "grants"
  | "appUsers"
  | "userOwners"
  | "suggestions"
  | "bridges"
  | "credentials"
  | "secrets"
  | "automations";

/** One member that differs; `undefined` on the side that has none. The value of a secret is `[hidden]`. */
export interface MemberChange {
  /** Such as `displayName` or `okta.domain`. */
  readonly name: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** One thing that is on one side only, or not the same on both. */
export interface StateChange {
  readonly kind: "added" | "removed" | "changed";
  readonly room: StateRoom;
  /** Its id; of what belongs to an app with the app's before it, `billing/role`. */
  readonly id: string;
  readonly members: readonly MemberChange[];
}

/** What the service makes up where a fixture does not say it: a side without it says nothing of it. */
const MADE_UP = new Set(["createdAt", "updatedAt", "listenerId", "signingSecret", "secret", "secretHash"]);

/** What is a secret besides the names that the journal hides. */
const SECRETS = new Set(["secretHash"]);

/**
 * What differs between two states, room by room and by id, with every member before and after. Defaults that one side
 * leaves out are no difference, nor is what the service makes up where a file does not say it, such as `createdAt`,
 * nor the contents of secrets that one side was exported without.
 *
 * @throws {FixtureError} for what is no fixture: nested without end, of another version, or not of its schema
 *
 * @example
 * ```ts
 * import { createService, diffStates } from "hookproof-service";
 *
 * await using service = await createService({ fixture: { authConfigs: [{ id: "staff" }] } });
 * const before = await service.exportState();
 * await fetch(`${service.url}/api/v1/auth-configs/staff`, {
 *   method: "DELETE",
 *   headers: { Authorization: `Bearer ${await service.token()}` },
 * });
 * const [change] = diffStates(before, await service.exportState());
 * console.log(change?.kind, change?.room, change?.id); // removed authConfigs staff
 * ```
 */
export function diffStates(before: Fixture, after: Fixture): StateChange[] {
  const [old, current] = [roomsOf(shapedFixture(before)), roomsOf(shapedFixture(after))];
  return [...old].flatMap(([room, was]) => {
    const is = current.get(room) ?? new Map<string, Thing>();
    const ids = [...new Set([...was.keys(), ...is.keys()])].sort();
    return ids.flatMap((id) => changeOf(room, id, was.get(id), is.get(id)) ?? []);
  });
}

function changeOf(
  room: StateRoom,
  id: string,
  was: Thing | undefined,
  is: Thing | undefined,
): StateChange | undefined {
  if (was && is) {
    const members = [...membersOf("", was.full, is.full, true)];
    return members.length > 0 ? { kind: "changed", room, id, members } : undefined;
  }
  const members = [...membersOf("", was?.given, is?.given, false)].filter(({ name }) => name !== "id");
  return { kind: was ? "removed" : "added", room, id, members };
}

/** The members that differ, by their paths; lists are taken as a whole. */
function* membersOf(path: string, was: unknown, is: unknown, areBoth: boolean): Generator<MemberChange> {
  for (const name of new Set([...namesOf(was), ...namesOf(is)])) {
    const [before, after] = [memberOf(was, name), memberOf(is, name)];
    const place = path === "" ? name : `${path}.${name}`;
    if (isDeepStrictEqual(before, after) || (path === "" && isSameTime(name, before, after))) continue;
    if (areBoth && path === "" && MADE_UP.has(name) && (before === undefined || after === undefined))
      continue;
    if (isSecretName(name) || SECRETS.has(name)) {
      const isSaid = before !== HIDDEN && after !== HIDDEN && before !== HIDDEN_FILE && after !== HIDDEN_FILE;
      if (isSaid || !areBoth) yield { name: place, before: hidden(before), after: hidden(after) };
    } else if (isObject(before) || isObject(after)) {
      const isEmpty = namesOf(before).length + namesOf(after).length === 0;
      if (isEmpty || (before !== undefined && !isObject(before)) || (after !== undefined && !isObject(after)))
        yield { name: place, before: withoutSecrets(before), after: withoutSecrets(after) };
      else yield* membersOf(place, before, after, areBoth);
    } else yield { name: place, before: withoutSecrets(before), after: withoutSecrets(after) };
  }
}

/** One moment in two spellings: what is kept as a number comes back in one of them. */
function isSameTime(name: string, before: unknown, after: unknown): boolean {
  const areTimes =
    /(?:At|Time|Deadline)$/.test(name) && typeof before === "string" && typeof after === "string";
  return areTimes && instant(before) === instant(after);
}

function hidden(value: unknown): unknown {
  return value === undefined ? undefined : HIDDEN;
}

/** A value whose members may be anything, such as a profile, without the secrets in it. */
function withoutSecrets(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [
      name,
      isSecretName(name) ? hidden(part) : withoutSecrets(part),
    ]),
  );
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function namesOf(value: unknown): string[] {
  return isObject(value) ? Object.keys(value) : [];
}

function memberOf(value: unknown, name: string): unknown {
  return isObject(value) && Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined;
}

/** One thing of a state as it was given, and with every default filled in. */
interface Thing {
  readonly given: object;
  readonly full: object;
}

type Rooms = Map<StateRoom, Map<string, Thing>>;

/** Everything in a state by room and id, with every default filled in. */
function roomsOf(fixture: Fixture): Rooms {
  const rooms: Rooms = new Map();
  const put = (room: StateRoom, list: Iterable<readonly [id: string, thing: Thing]>) => {
    const known = rooms.get(room) ?? new Map<string, Thing>();
    for (const [id, thing] of list) known.set(id, thing);
    rooms.set(room, known);
  };
  const byId = <Given extends { id?: string | undefined }>(
    list: readonly Given[] = [],
    make: (given: Given) => object,
    within = "",
  ) =>
    list.map(
      (given, index) => [`${within}${given.id ?? `#${index}`}`, { given, full: make(given) }] as const,
    );
  // What fills it in changes what it is given.
  const copy = <Given extends object>(given: Given) => structuredClone(given);

  put(
    "users",
    byId(fixture.users, (one) => completed("User", copy(one))),
  );
  put(
    "clients",
    byId(fixture.clients, (one) => ({ displayName: "", role: "member", ...one })),
  );
  put(
    "authConfigs",
    byId(fixture.authConfigs, (one) => withoutKept(completeAuthConfig(copy(one)))),
  );
  const apps = fixture.apps ?? [];
  put("apps", byId(apps.map(bare), named));
  for (const app of apps) {
    put(
      "resourceTypes",
      byId(
        app.resourceTypes,
        ({ manuallyManaged = true, ...one }) => ({
          ...completed("AppResourceType", { ...copy(one), appId: app.id }),
          manuallyManaged,
        }),
        `${app.id}/`,
      ),
    );
    put(
      "entitlements",
      byId(
        app.entitlements,
        (one) => completed("AppEntitlement", { ...copy(one), appId: app.id }),
        `${app.id}/`,
      ),
    );
    put("entitlementOwners", entitlementOwnersOf(app));
    put("grants", grantsOf(app));
    put("appUsers", byId(app.users?.map(bare), named, `${app.id}/`));
    put("userOwners", userOwnersOf(app));
  }
  for (const room of [
    "resourceTypes",
    "entitlements",
    "entitlementOwners",
    "grants",
    "appUsers",
    "userOwners",
  ] as const)
    put(room, []);
  put(
    "suggestions",
    byId(fixture.suggestions, ({ userIds = [], ...one }) => ({ ...named(one), userIds: userIds.toSorted() })),
  );
  const bridges = fixture.bridges ?? [];
  put("bridges", byId(bridges.map(bare), named));
  put("credentials", []);
  for (const { id, credentials } of bridges)
    put(
      "credentials",
      byId(
        credentials,
        (one) => completed("TunnelCredential", { ...copy(one), bridgeId: id, clientSecret: "" }),
        `${id}/`,
      ),
    );
  put(
    "secrets",
    byId(fixture.secrets, ({ allowedUserIds = [], ...one }) => ({
      access: "EXTERNAL",
      ...(one.file === undefined ? { inputFormat: "SECRET_INPUT_FORMAT_PLAINTEXT" as const } : {}),
      views: -1,
      ...one,
      allowedUserIds: allowedUserIds.toSorted(),
    })),
  );
  put(
    "automations",
    byId(fixture.automations, (one) => ({
      displayName: "",
      allowedCidrs: [],
      published: true,
      enabled: true,
      ...one,
      steps: (one.steps ?? []).map((step) => ({ condition: "", templates: {}, ...step })),
    })),
  );
  return rooms;
}

type Named = Pick<FixtureApp, "id" | "displayName" | "createdAt">;

/** What has a name, without what is in it. */
function bare({ id, displayName, createdAt }: Named): Named {
  return {
    id,
    ...(displayName === undefined ? {} : { displayName }),
    ...(createdAt === undefined ? {} : { createdAt }),
  };
}

function named(given: Named): Named {
  return { displayName: "", ...bare(given) };
}

/** The secrets of providers are not kept, and so no part of a state. */
function withoutKept(config: object): object {
  return JSON.parse(
    JSON.stringify(config, (name, value) => (name === "oidcClientSecret" ? "" : value)),
  ) as object;
}

function entitlementOwnersOf({ id, entitlementOwners = [] }: FixtureApp) {
  return entitlementOwners.map(
    (one) => [`${id}/${one.roleSlug}/${one.appId}/${one.entitlementId}`, { given: one, full: one }] as const,
  );
}

function grantsOf({ id, grants = [] }: FixtureApp) {
  return grants.map(
    (one) => [`${id}/${one.entitlementId}/${one.userId}`, { given: one, full: one }] as const,
  );
}

function userOwnersOf({ id, users = [] }: FixtureApp) {
  return users.flatMap((user) =>
    (user.owners ?? []).map(
      (one) => [`${id}/${user.id}/${one.roleSlug}/${one.userId}`, { given: one, full: one }] as const,
    ),
  );
}
