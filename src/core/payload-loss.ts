// Finds what JSON would empty or change in a value, and names it with its place.

/** What JSON cannot carry: its kind in words, and the way to it, the last step first. */
interface Loss {
  readonly words: string;
  readonly steps: string[];
}

/** The name of a member, or the place in a list: a text of each place would cost as much as the look at a number there. */
type Key = string | number;

const AS_OBJECT = "Object.fromEntries() makes an object of it";

/** What can be done about kinds that people hand in. */
const ADVICE: Readonly<Record<string, string>> = {
  BigInt: "write it as a text, as JSON readers round large numbers",
  Blob: "await its text()",
  Error: "write the members of it that matter, such as { message: error.message }",
  File: "await its text()",
  FormData: AS_OBJECT,
  Headers: AS_OBJECT,
  Map: AS_OBJECT,
  Promise: "await it",
  ReadableStream: "read it to its end first",
  RegExp: "write its source",
  Request: "await its json()",
  Response: "await its json()",
  Set: "[...set] makes a list of it",
  URLSearchParams: AS_OBJECT,
};

const AS_NULL = "which a list cannot leave out: write null";
const AS_MEMBERS = ": give it a toJSON(), or write its members";
const AS_LIST = ": [...list] is its items alone, an object can have both";
const AS_TEXT = "inside a payload bytes need a text, such as base64";

/**
 * What JSON would empty or change in a value, as a sentence without its full stop: `payload.tags[2] is a Promise: await
 * it`; `undefined` if it loses nothing. What JSON writes by convention is no loss: `toJSON`, and members that are left out
 * as they are `undefined`. Look only at what `JSON.stringify` could write, and without a half of a character in it, or
 * give `open`: it finds cycles and halves, and costs more.
 *
 * @param open the objects that the value lies in
 */
export function lossIn(value: unknown, open?: Set<object>): string | undefined {
  const loss = value === undefined ? lost("undefined, which is not a JSON value") : lossOf(value, "", open);
  if (!loss) return undefined;
  const place = loss.steps.length === 0 ? "The payload" : `payload${loss.steps.reverse().join("")}`;
  return `${place} is ${loss.words}`;
}

function lossOf(value: unknown, key: Key, open: Set<object> | undefined): Loss | undefined {
  switch (typeof value) {
    case "object":
      if (value === null) return undefined;
      return open ? lossOfOpened(value, key, open) : lossOfObject(value, key, open);
    case "string":
      return !open || value.isWellFormed()
        ? undefined
        : lost("text that is cut within a character: toWellFormed()");
    case "number":
      return Number.isFinite(value) ? undefined : lost(`${value}, for which JSON has no number`);
    case "bigint":
      return typeof Object(value).toJSON === "function" ? undefined : kind("BigInt");
    case "function":
    case "symbol":
      return lost(`a ${typeof value}, which JSON leaves out`);
    default:
      return undefined;
  }
}

function lossOfOpened(value: object, key: Key, open: Set<object>): Loss | undefined {
  if (open.has(value)) return lost("an object that it lies in itself: JSON has no cycles");
  open.add(value);
  const loss = lossOfObject(value, key, open);
  open.delete(value);
  return loss;
}

function lossOfObject(value: object, key: Key, open: Set<object> | undefined): Loss | undefined {
  const { toJSON } = value as { toJSON?: unknown };
  if (typeof toJSON === "function") return lossOfInstance(value, key, open);
  if (Array.isArray(value)) return lossOfItems(value, open);
  return isPlain(value) ? lossOfMembers(value, open) : lossOfInstance(value, key, open);
}

/** Of this realm or another one: what has no class. */
function isPlain(value: object): boolean {
  const prototype: object | null = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null) return true;
  return isOfEverything(prototype);
}

/** `Object.prototype`, of this realm or another one; JSON leaves out what any other prototype has. */
function isOfEverything(prototype: object): boolean {
  return Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype, "isPrototypeOf");
}

function lossOfItems(items: readonly unknown[], open: Set<object> | undefined): Loss | undefined {
  for (let at = 0; at < items.length; at++) {
    const item = items[at];
    const loss =
      item === undefined
        ? lost(`undefined, ${AS_NULL}`)
        : (lossOf(item, at, open) ??
          (typeof item === "object" && item !== null ? lossOfNothing(item, at) : undefined));
    if (loss) return within(loss, `[${at}]`);
  }
  const isOfClass = Object.getPrototypeOf(items) !== Array.prototype;
  const hidden = (isOfClass ? hiddenMember(items) : undefined) ?? nameOn(items);
  return hidden === undefined
    ? undefined
    : lost(`${named(items)}, whose ${hidden} JSON leaves out${AS_LIST}`);
}

/** A name that a list has next to its items. Of a long one the values are counted, as no text is made of each index then. */
function nameOn(items: readonly unknown[]): string | undefined {
  const { length } = items;
  if ((length < 8 ? Object.keys(items) : Object.values(items)).length <= length) return undefined;
  const members = items as unknown as Readonly<Record<string, unknown>>;
  const name = Object.keys(items)
    .slice(length) // behind its indices
    .find((one) => members[one] !== undefined);
  return name === undefined ? undefined : shortened(name);
}

/** In a list JSON writes null for a `toJSON` that gives nothing; a member of an object it leaves out. */
function lossOfNothing(item: object, at: number): Loss | undefined {
  const { toJSON } = item as { toJSON?: unknown };
  if (typeof toJSON !== "function" || toJSON.call(item, String(at)) !== undefined) return undefined;
  return lost(`an object whose toJSON() gives nothing, ${AS_NULL}`);
}

function lossOfMembers(value: object, open: Set<object> | undefined): Loss | undefined {
  let name: string | undefined;
  for (name in value) {
    const member: unknown = (value as Record<string, unknown>)[name];
    if (!open && typeof member === "string") continue;
    const loss = lossOf(!open || name.isWellFormed() ? member : name, name, open);
    if (loss && Object.hasOwn(value, name) && !isOwnToJson(name, member)) return within(loss, stepTo(name));
  }
  if (name === undefined) return unseen(value);
  if (name < ":" && tagOf(value) === "Arguments") return kind("Arguments"); // its names are numbers
  return lossOfSymbols(value);
}

/** Data under symbols, which JSON leaves out; what is not enumerable or a function tells of an object and is none of its data. */
function lossOfSymbols(value: object): Loss | undefined {
  const symbols = Object.getOwnPropertySymbols(value);
  if (symbols.length === 0) return undefined;
  const hidden = symbols.find((symbol) => {
    const { enumerable, value: member } = Object.getOwnPropertyDescriptor(value, symbol) ?? {};
    return enumerable && member !== undefined && typeof member !== "function";
  });
  if (hidden === undefined) return undefined;
  return lost(
    `${named(value)}, whose ${shortened(String(hidden))} JSON leaves out: give it a name that is text`,
  );
}

/** Only what a `toJSON` has given still has one of its own here: JSON asks it no more, and leaves it out. */
function isOwnToJson(name: string, member: unknown): boolean {
  return name === "toJSON" && typeof member === "function";
}

/** Of what has members, and is `{}` in JSON: Math and its like, members under symbols. */
function unseen(value: object, known = 0): Loss | undefined {
  if (Reflect.ownKeys(value).length === known) return undefined;
  return lost(`${named(value)}, of which JSON sees nothing${AS_MEMBERS}`);
}

/** What is lost of an object with a class or with its own `toJSON`. */
function lossOfInstance(value: object, key: Key, open: Set<object> | undefined): Loss | undefined {
  if (ArrayBuffer.isView(value)) return lost(`${named(value)}: ${AS_TEXT}`);
  const { toJSON, then } = value as { toJSON?: unknown; then?: unknown };
  if (typeof toJSON === "function") {
    const json: unknown = toJSON.call(value, String(key));
    if (json === null && isInvalidDate(value)) return lost("an invalid Date, which JSON makes null");
    return lossOfGiven(json, value, { key, open });
  }
  if (typeof then === "function") return kind("Promise");
  if (value instanceof Error) return kind("Error");
  const tag = tagOf(value);
  if (tag.endsWith("ArrayBuffer")) return lost(`${withArticle(tag)}: ${AS_TEXT}`);
  if (tag !== "Object") return kind(tag);
  const hidden = hiddenMember(value);
  if (hidden !== undefined) return lost(`${named(value)}, whose ${hidden} JSON leaves out${AS_MEMBERS}`);
  return Object.keys(value).length === 0 ? unseen(value, -1) : lossOfMembers(value, open);
}

/** What a `toJSON` has given: JSON writes its members, and asks it for no other value. */
function lossOfGiven(
  json: unknown,
  giver: object,
  { key, open }: { readonly key: Key; readonly open: Set<object> | undefined },
): Loss | undefined {
  const isAsked = typeof (json as { toJSON?: unknown } | null | undefined)?.toJSON === "function";
  if (typeof json !== "object" || json === null || !isAsked || ArrayBuffer.isView(json))
    return lossOf(json, key, open);
  if (Array.isArray(json)) return lossOfItems(json, open);
  if (json === giver || isPlain(json)) return lossOfMembers(json, open);
  return lost(`${named(json)} from a toJSON(), whose own toJSON() JSON does not call: give what that gives`);
}

/** Of any realm, and as Luxon, Moment and Day.js say it. */
function isInvalidDate(value: object): boolean {
  const { isValid } = value as { isValid?: unknown };
  return tagOf(value) === "Date" || (typeof isValid === "function" ? isValid.call(value) : isValid) === false;
}

/** Such as `Map`, of `[object Map]`. */
function tagOf(value: object): string {
  return Object.prototype.toString.call(value).slice(8, -1);
}

/** A member that an object has from its class, so that JSON does not write it. */
function hiddenMember(value: object): string | undefined {
  let owner: object | null = Object.getPrototypeOf(value);
  while (owner && !isOfEverything(owner) && !Array.isArray(owner)) {
    for (const [name, { get, value: inherited }] of Object.entries(Object.getOwnPropertyDescriptors(owner))) {
      if (name === "__proto__" || Object.hasOwn(value, name)) continue;
      if (get || (inherited !== undefined && typeof inherited !== "function")) return shortened(name);
    }
    owner = Object.getPrototypeOf(owner);
  }
  return undefined;
}

function lost(words: string): Loss {
  return { words, steps: [] };
}

function kind(name: string): Loss {
  const advice = Object.hasOwn(ADVICE, name) ? ADVICE[name] : "JSON has no such value";
  return lost(`${withArticle(name)}: ${advice}`);
}

function named(value: object): string {
  const { name } = Object(value.constructor);
  return typeof name === "string" && /^[A-Za-z_$]/.test(name) ? withArticle(name) : "an object with a class";
}

function withArticle(name: string): string {
  return `${/^[AEIO]/.test(name) ? "an" : "a"} ${shortened(name)}`;
}

function within(loss: Loss, step: string): Loss {
  loss.steps.push(step);
  return loss;
}

function stepTo(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? `.${shortened(name)}` : `[${JSON.stringify(shortened(name))}]`;
}

/** A payload may be made of strangers' texts: its names are shown, but short and without what steers a terminal. */
function shortened(name: string): string {
  return name.replace(/[^\x20-\x7e]/g, "?").replace(/^(.{40}).+/, "$1…");
}
