// Names what differs between two states.
import { isDeepStrictEqual } from "node:util";
import { completed } from "../api/validation.js";
import { HIDDEN, isSecretName } from "../server/hidden-secrets.js";
import { instant } from "../storage/document.js";
import { completeAuthConfig } from "./auth-config.js";
import { HIDDEN_FILE } from "./export-state.js";
import type { Fixture, FixtureApp, FixtureOf } from "./fixture.js";
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
  const put = (room: StateRoom, list: Listed) => {
    const known = rooms.get(room) ?? new Map<string, Thing>();
    for (const [id, thing] of list) known.set(id, thing);
    rooms.set(room, known);
  };
  const { users, clients, authConfigs, suggestions, secrets, automations, apps = [], bridges = [] } = fixture;
  put(
    "users",
    byId(users, (one) => completed("User", copy(one))),
  );
  put(
    "clients",
    byId(clients, (one) => ({ displayName: "", role: "member", ...one })),
  );
  put(
    "authConfigs",
    byId(authConfigs, (one) => withoutKept(completeAuthConfig(copy(one)))),
  );
  put("apps", byId(apps.map(bare), named));
  // Each has its place, with no app at all.
  for (const room of ROOMS_OF_AN_APP) put(room, []);
  for (const app of apps) for (const room of ROOMS_OF_AN_APP) put(room, THINGS_OF_AN_APP[room](app));
  put("suggestions", byId(suggestions, fullSuggestion));
  put("bridges", byId(bridges.map(bare), named));
  put("credentials", []);
  for (const bridge of bridges) put("credentials", credentialsOf(bridge));
  put("secrets", byId(secrets, fullSecret));
  put("automations", byId(automations, fullAutomation));
  return rooms;
}

type Listed = Iterable<readonly [id: string, thing: Thing]>;

function byId<Given extends { id?: string | undefined }>(
  list: readonly Given[] = [],
  make: (given: Given) => object,
  within = "",
): Listed {
  return list.map(
    (given, index) => [`${within}${given.id ?? `#${index}`}`, { given, full: make(given) }] as const,
  );
}

/** What fills a thing in changes what it is given. */
function copy<Given extends object>(given: Given): Given {
  return structuredClone(given);
}

const ROOMS_OF_AN_APP = [
  "resourceTypes",
  "entitlements",
  "entitlementOwners",
  "grants",
  "appUsers",
  "userOwners",
] as const;

const THINGS_OF_AN_APP: Record<(typeof ROOMS_OF_AN_APP)[number], (app: FixtureApp) => Listed> = {
  resourceTypes: ({ id: appId, resourceTypes }) =>
    byId(
      resourceTypes,
      ({ manuallyManaged = true, ...one }) => ({
        ...completed("AppResourceType", { ...copy(one), appId }),
        manuallyManaged,
      }),
      `${appId}/`,
    ),
  entitlements: ({ id: appId, entitlements }) =>
    byId(entitlements, (one) => completed("AppEntitlement", { ...copy(one), appId }), `${appId}/`),
  entitlementOwners: entitlementOwnersOf,
  grants: grantsOf,
  appUsers: ({ id, users }) => byId(users?.map(bare), named, `${id}/`),
  userOwners: userOwnersOf,
};

function fullSuggestion({ userIds = [], ...one }: FixtureOf<"suggestions">): object {
  return { ...named(one), userIds: userIds.toSorted() };
}

function credentialsOf({ id, credentials }: FixtureOf<"bridges">): Listed {
  const full = (one: object) =>
    completed("TunnelCredential", { ...copy(one), bridgeId: id, clientSecret: "" });
  return byId(credentials, full, `${id}/`);
}

function fullSecret({ allowedUserIds = [], ...one }: FixtureOf<"secrets">): object {
  return {
    access: "EXTERNAL",
    ...(one.file === undefined ? { inputFormat: "SECRET_INPUT_FORMAT_PLAINTEXT" as const } : {}),
    views: -1,
    ...one,
    allowedUserIds: allowedUserIds.toSorted(),
  };
}

function fullAutomation(one: FixtureOf<"automations">): object {
  return {
    displayName: "",
    allowedCidrs: [],
    published: true,
    enabled: true,
    ...one,
    steps: (one.steps ?? []).map((step) => ({ condition: "", templates: {}, ...step })),
  };
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
