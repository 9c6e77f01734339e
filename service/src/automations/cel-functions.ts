// The functions that expressions have next to CEL's own: look-ups over the service's state, and stubs.
import { checkOptions, type OptionKind } from "../server/options.js";
import type { Storage } from "../storage/storage.js";
import { isAttribute, userFilter } from "../storage/user-filter.js";
import type { CelTypeName, LookUps, Signature } from "./look-ups.js";
import type { Json } from "./template.js";

/** A function that stands in for one of the real service's. */
export interface CelFunction {
  /** The types of its arguments. */
  readonly takes: readonly CelTypeName[];
  /** The type of its value, which is given as JSON: a `timestamp` in RFC 3339, a `duration` such as `3600s`. */
  readonly gives: CelTypeName;
  /** Is called once for the same arguments in an evaluation, with the arguments as JSON. What it throws fails the step. */
  readonly call: (...args: Json[]) => Json | Promise<Json>;
}

/** Functions for expressions, by their whole names, such as `acme.risk.v1.Score`. */
export type CelFunctions = Readonly<Record<string, CelFunction>>;

/** Options of `createService` for expressions. */
export interface CelOptions {
  /** What stands before the names of the look-ups: with `acme`, `acme.directory.users.v1.GetByID`. Nothing by default. */
  celNamespace?: string | undefined;
  /** More functions, or stubs in the place of look-ups. */
  celFunctions?: CelFunctions | undefined;
}

/** More users than this are no answer: an expression that counts them would count wrongly with a part of them. */
const MAX_USERS = 1_000;
const MAX_NAME = 100;

type Call = (args: readonly Json[], storage: LookUpStorage, signal: AbortSignal) => unknown;
type LookUpStorage = Pick<Storage, "users" | "grants">;

/** By their names behind the namespace. */
const LOOK_UPS: Readonly<Record<string, Omit<Signature, "name"> & { call: Call }>> = {
  "directory.users.v1.FindByEmail": {
    takes: ["string"],
    gives: "map",
    call: ([email], { users }) => users.ofEmail(String(email)) ?? missing("email", email),
  },
  "directory.users.v1.GetByID": {
    takes: ["string"],
    gives: "map",
    call: ([id], { users }) => users.get(String(id)) ?? missing("id", id),
  },
  "directory.users.v1.FindByName": {
    takes: ["string"],
    gives: "dyn",
    call: ([name], { users }) => users.ofName(String(name)) ?? null,
  },
  "directory.users.v1.FindByAttribute": {
    takes: ["string", "string"],
    gives: "list",
    call: ([attribute, value], storage, signal) =>
      usersWith(String(attribute), [String(value)], storage, signal),
  },
  "directory.users.v1.GetManagers": {
    takes: ["user"],
    gives: "list",
    call: ([id], { users }) =>
      atMost(existing(id, users).managerIds, "are the managers").flatMap(
        (manager) => users.get(manager) ?? [],
      ),
  },
  "directory.users.v1.DirectReports": {
    takes: ["users"],
    gives: "list",
    call: ([ids], storage, signal) => usersWith("managerIds", ids as string[], storage, signal),
  },
  "directory.apps.v1.GetEntitlementMembers": {
    takes: ["string", "string"],
    gives: "list",
    call: ([app, entitlement], { grants }) =>
      atMost(grants.membersOf(String(app), String(entitlement), MAX_USERS + 1), "hold this entitlement"),
  },
  "user.v1.HasApp": {
    takes: ["user", "string"],
    gives: "bool",
    call: ([id, app], { users, grants }) => grants.has(existing(id, users).id, String(app)),
  },
  "user.v1.HasEntitlement": {
    takes: ["user", "string", "string"],
    gives: "bool",
    call: ([id, app, entitlement], { users, grants }) =>
      grants.has(existing(id, users).id, String(app), String(entitlement)),
  },
  "user.v1.ListGrants": {
    takes: ["user"],
    gives: "list",
    call: ([id], { users, grants }) => {
      const held = grants.ofUser(existing(id, users).id, MAX_USERS + 1);
      if (held.length > MAX_USERS) throw new Error(`the user holds more than ${MAX_USERS} entitlements`);
      return held;
    },
  },
};

/** What answers the functions of expressions, from the state of a service and from stubs. */
export function createLookUps(
  storage: LookUpStorage,
  { celNamespace = "", celFunctions = {} }: CelOptions,
): LookUps {
  const prefix = celNamespace === "" ? "" : `${celNamespace}.`;
  const lookUps = Object.entries(LOOK_UPS).map(([name, lookUp]) => [prefix + name, lookUp] as const);
  const stubs = Object.entries(celFunctions).map(
    ([name, { takes, gives, call }]) => [name, { takes, gives, call: (args) => call(...args) }] as const,
  ) satisfies (readonly [string, (typeof LOOK_UPS)[string]])[];
  const byName = new Map<string, (typeof LOOK_UPS)[string]>([...lookUps, ...stubs]);
  return {
    signatures: Array.from(byName, ([name, { takes, gives }]) => ({ name, takes, gives })),
    async answer({ name, args }, signal) {
      try {
        const value: unknown = await aborting(byName.get(name)?.call(args, storage, signal), signal);
        return { json: JSON.stringify(value) ?? "null" };
      } catch (error) {
        signal.throwIfAborted();
        return { failure: error instanceof Error ? error.message : String(error) };
      }
    },
  };
}

const QUALIFIED = /^[A-Za-z_][A-Za-z0-9_]{0,63}(?:\.[A-Za-z_][A-Za-z0-9_]{0,63}){0,9}$/;
const RESERVED = new Set(["ctx", "in", "true", "false", "null", "has"]);
const TYPES = new Set(["string", "int", "double", "bool", "timestamp", "duration", "list", "map", "dyn"]);

const typeName: OptionKind = [`one of ${[...TYPES].join(", ")}`, (value) => TYPES.has(value as string)];
const FUNCTION = {
  takes: [
    `a list of ${[...TYPES].join(", ")}`,
    (value) => Array.isArray(value) && value.length <= 10 && value.every((one) => TYPES.has(one)),
  ],
  gives: typeName,
  call: ["a function", (value) => typeof value === "function"],
} as const satisfies Record<keyof CelFunction, OptionKind>;

/** @throws {TypeError} for a namespace or a stub that no expression could call */
export function checkCelOptions({ celNamespace = "", celFunctions = {} }: CelOptions): void {
  if (celNamespace !== "" && !isName(celNamespace))
    throw new TypeError("celNamespace must be a name, or names with dots between them, such as acme");
  for (const [name, stub] of Object.entries(celFunctions)) {
    if (!isName(name))
      throw new TypeError(
        `celFunctions has a name that no expression can call: ${JSON.stringify(name.slice(0, MAX_NAME))}`,
      );
    checkOptions(`celFunctions.${name}`, stub, FUNCTION, `celFunctions.${name}.`);
    const absent = Object.keys(FUNCTION).find((part) => !Object.hasOwn(stub, part));
    if (absent !== undefined) throw new TypeError(`celFunctions.${name}.${absent} is missing`);
  }
}

function isName(text: string): boolean {
  return text.length <= MAX_NAME && QUALIFIED.test(text) && !RESERVED.has(text.split(".")[0] ?? "");
}

function missing(what: string, value: Json | undefined): never {
  throw new Error(`there is no user with the ${what} ${JSON.stringify(value).slice(0, MAX_NAME)}`);
}

function existing(id: Json | undefined, users: LookUpStorage["users"]) {
  return users.get(String(id)) ?? missing("id", id);
}

/** Looks through the users part by part: others are answered between the parts. */
async function usersWith(
  attribute: string,
  values: readonly string[],
  { users }: LookUpStorage,
  signal: AbortSignal,
) {
  const filter = userFilter(attribute, values);
  if (!isAttribute(filter))
    throw new Error(`users have no attribute ${JSON.stringify(attribute.slice(0, MAX_NAME))}`);
  const found = [];
  for (let next: number | undefined = 0; next !== undefined; ) {
    const part = users.searchPart(filter, next);
    found.push(...part.found);
    atMost(found, "fit");
    next = part.next;
    await nextTurn();
    signal.throwIfAborted();
  }
  return found;
}

function atMost<Item>(users: readonly Item[], what: string): readonly Item[] {
  if (users.length <= MAX_USERS) return users;
  throw new Error(`more than ${MAX_USERS} users ${what}: look for fewer`);
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

/** Does not wait for what a stub never gives. */
async function aborting(value: unknown, signal: AbortSignal): Promise<unknown> {
  let stop = () => {};
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason);
    signal.addEventListener("abort", stop);
  });
  try {
    return await Promise.race([value, aborted]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
