// Finds what JSON would empty or change in a value, and names it with its place.

/** What JSON cannot carry: its kind in words, and the way to it, the last step first. */
interface Loss {
  readonly words: string;
  readonly steps: string[];
}

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
const AS_TEXT = "inside a payload bytes need a text, such as base64";

/**
 * What JSON would empty or change in a value, as a sentence without its full stop: `payload.tags[2] is a Promise: await
 * it`; `undefined` if it loses nothing. What JSON writes by convention is no loss: `toJSON`, and members that are left out
 * as they are `undefined`. Look only at what `JSON.stringify` could write, or give `open`, which finds cycles.
 *
 * @param open the objects that the value lies in
 */
export function lossIn(value: unknown, open?: Set<object>): string | undefined {
  const loss = value === undefined ? lost("undefined, which is not a JSON value") : lossOf(value, "", open);
  if (!loss) return undefined;
  const place = loss.steps.length === 0 ? "The payload" : `payload${loss.steps.reverse().join("")}`;
  return `${place} is ${loss.words}`;
}

function lossOf(value: unknown, key: string, open: Set<object> | undefined): Loss | undefined {
  switch (typeof value) {
    case "object":
      if (value === null) return undefined;
      return open ? lossOfOpened(value, key, open) : lossOfObject(value, key, open);
    case "string":
      return value.isWellFormed() ? undefined : lost("text that is cut within a character: toWellFormed()");
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

function lossOfOpened(value: object, key: string, open: Set<object>): Loss | undefined {
  if (open.has(value)) return lost("an object that it lies in itself: JSON has no cycles");
  open.add(value);
  const loss = lossOfObject(value, key, open);
  open.delete(value);
  return loss;
}

function lossOfObject(value: object, key: string, open: Set<object> | undefined): Loss | undefined {
  const { toJSON } = value as { toJSON?: unknown };
  if (typeof toJSON === "function" || !isPlain(value)) return lossOfInstance(value, key, open);
  if (Array.isArray(value)) return lossOfItems(value, open);
  return lossOfMembers(value, open);
}

/** Of this realm or another one: what has no class. */
function isPlain(value: object): boolean {
  const prototype: object | null = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null || Array.isArray(value)) return true;
  return Object.getPrototypeOf(prototype) === null;
}

function lossOfItems(items: readonly unknown[], open: Set<object> | undefined): Loss | undefined {
  for (let at = 0; at < items.length; at++) {
    const item = items[at];
    const loss =
      item === undefined
        ? lost(`undefined, ${AS_NULL}`)
        : (lossOf(item, String(at), open) ??
          (typeof item === "object" ? lossOfNothing(item, at) : undefined));
    if (loss) return within(loss, `[${at}]`);
  }
  return items.length > 0 ? undefined : unseen(items, 1); // its length
}

/** In a list JSON writes null for a `toJSON` that gives nothing; a member of an object it leaves out. */
function lossOfNothing(item: unknown, at: number): Loss | undefined {
  const { toJSON } = Object(item) as { toJSON?: unknown };
  if (typeof toJSON !== "function" || toJSON.call(item, String(at)) !== undefined) return undefined;
  return lost(`an object whose toJSON() gives nothing, ${AS_NULL}`);
}

function lossOfMembers(value: object, open: Set<object> | undefined): Loss | undefined {
  let name: string | undefined;
  for (name in value) {
    const member: unknown = (value as Record<string, unknown>)[name];
    const loss = lossOf(name.isWellFormed() ? member : name, name, open);
    if (loss && Object.hasOwn(value, name)) return within(loss, stepTo(name));
  }
  return name === undefined ? unseen(value) : undefined;
}

/** Of what has members, and is `{}` or `[]` in JSON: Math and its like, members under symbols, a list with names alone. */
function unseen(value: object, known = 0): Loss | undefined {
  if (Reflect.ownKeys(value).length === known) return undefined;
  return lost(`${named(value)}, of which JSON sees nothing${AS_MEMBERS}`);
}

/** What is lost of an object with a class or with its own `toJSON`. */
function lossOfInstance(value: object, key: string, open: Set<object> | undefined): Loss | undefined {
  if (ArrayBuffer.isView(value)) return lost(`${named(value)}: ${AS_TEXT}`);
  const { toJSON, then } = value as { toJSON?: unknown; then?: unknown };
  if (typeof toJSON === "function") {
    if (value instanceof Date && Number.isNaN(value.getTime()))
      return lost("an invalid Date, which JSON makes null");
    const json: unknown = toJSON.call(value, key);
    return json === value ? lossOfMembers(value, open) : lossOf(json, key, open);
  }
  if (typeof then === "function") return kind("Promise");
  if (value instanceof Error) return kind("Error");
  const tag = Object.prototype.toString.call(value).slice(8, -1); // [object …]
  if (tag.endsWith("ArrayBuffer")) return lost(`${withArticle(tag)}: ${AS_TEXT}`);
  if (tag !== "Object") return kind(tag);
  const hidden = hiddenMember(value);
  if (hidden !== undefined) return lost(`${named(value)}, whose ${hidden} JSON leaves out${AS_MEMBERS}`);
  return Object.keys(value).length === 0 ? unseen(value, -1) : lossOfMembers(value, open);
}

/** A member that an object has from its class, so that JSON does not write it. */
function hiddenMember(value: object): string | undefined {
  let owner: object | null = Object.getPrototypeOf(value);
  while (owner && Object.getPrototypeOf(owner) !== null) {
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
