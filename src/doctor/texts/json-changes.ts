// Changes of JSON that serialisers and databases make.
import type { Json, JsonArray, JsonMember, JsonObject, Reshape, Texts } from "./json-shapes.js";
import { textOf } from "./json-writer.js";

// What languages, frameworks and databases do to the parts of a JSON value.

/** Members in another order; the same list if that is theirs already. */
function ordered(
  members: readonly JsonMember[],
  compare: (a: number, b: number) => number,
): readonly JsonMember[] {
  let isOrdered = true;
  for (let index = 1; isOrdered && index < members.length; index++)
    isOrdered = compare((members[index - 1] as JsonMember)[0], (members[index] as JsonMember)[0]) <= 0;
  return isOrdered ? members : members.toSorted(([a], [b]) => compare(a, b));
}

function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function byToken({ token }: Texts): (a: number, b: number) => number {
  return (a, b) => (a === b ? 0 : byText(token(a), token(b)));
}

/** Each object's members in the order of their names. */
export const SORTED: Reshape = { members: (members, texts) => ordered(members, byToken(texts)) };

/** The order of the outermost object alone. */
export const SORTED_AT_TOP: Reshape = {
  members: (members, texts, isTop) => (isTop ? ordered(members, byToken(texts)) : members),
};

/** The order of PostgreSQL's jsonb and MySQL's JSON: shorter names first; of equal names the last stays. */
export const BY_LENGTH: Reshape = {
  members: (members, { text }) => {
    const last = new Map(members.map((member) => [text(member[0]), member]));
    const once = last.size === members.length ? members : [...last.values()];
    return ordered(once, (a, b) => byteLength(text(a)) - byteLength(text(b)) || byText(text(a), text(b)));
  },
  leaf: (token) => (/^-?[0-9.]+e[+-]?[0-9]{1,2}$/i.test(token) ? writtenOut(token) : token),
};

function byteLength(text: string): number {
  let length = text.length;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code > 0x7f) length += code > 0x7ff && (code < 0xd800 || code > 0xdfff) ? 2 : 1;
  }
  return length;
}

/** A number with an exponent as plain digits. */
function writtenOut(token: string): string {
  const [, sign = "", whole = "", part = "", power = ""] =
    /^(-?)([0-9]+)(?:\.([0-9]+))?e([+-]?[0-9]+)$/i.exec(token) ?? [];
  if (whole === "") return token;
  const point = whole.length + Number(power);
  const digits = `${"0".repeat(Math.max(0, 1 - point))}${whole}${part}`.padEnd(Math.max(1, point), "0");
  const split = Math.max(1, point);
  const before = digits.slice(0, split).replace(/^0+(?=[0-9])/, "");
  const after = digits.slice(split);
  return `${sign}${before}${after === "" ? "" : `.${after}`}`;
}

/** Sorted by a map of Go, whose numbers are those of JavaScript. */
export const AS_GO_MAPS: Reshape = {
  ...SORTED,
  leaf: (token) => AS_JAVASCRIPT_NUMBERS.leaf?.(token) ?? token,
};

/** The outermost array of PHP, sorted. */
export const SORTED_PHP_ARRAYS: Reshape = {
  ...SORTED_AT_TOP,
  leaf: (token) => AS_PHP_NUMBERS.leaf?.(token) ?? token,
  object: (object) => AS_PHP_ARRAYS.object?.(object) ?? object,
};

const NULL = "null";

/** Without the members that are null. */
export const NULLS_LEFT_OUT: Reshape = {
  members: (members, { token }) => without(members, (value) => isLeaf(value, token, NULL)),
};

function isLeaf(value: Json, token: Texts["token"], ...wanted: readonly string[]): boolean {
  return typeof value === "number" && wanted.includes(token(value));
}

/** Without the members that are null, "", [] or {}. */
export const EMPTY_LEFT_OUT: Reshape = {
  members: (members, { token }) =>
    without(members, (value) =>
      typeof value === "number" ? isLeaf(value, token, NULL, '""') : sizeOf(value) === 0,
    ),
};

function sizeOf(value: JsonObject | JsonArray): number {
  return "items" in value ? value.items.length : value.members.length;
}

function without(members: readonly JsonMember[], isGone: (value: Json) => boolean): readonly JsonMember[] {
  return members.some(([, value]) => isGone(value)) ? members.filter(([, value]) => !isGone(value)) : members;
}

function renamed(rename: (name: string) => string): Reshape {
  return { name: strings(rename) };
}

/** Names in another spelling, as the classes of other languages have them. */
export const SNAKE_CASE = renamed((name) =>
  name.replace(/(?<=[a-z0-9])[A-Z]/g, (capital) => `_${capital}`).toLowerCase(),
);
export const CAMEL_CASE = renamed((name) => lowerFirst(joined(name)));
export const PASCAL_CASE = renamed((name) => upperFirst(joined(name)));
export const UPPER_CASE = renamed((name) => name.toUpperCase());
export const LOWER_CASE = renamed((name) => name.toLowerCase());

function joined(name: string): string {
  return name.replace(/(?<=[A-Za-z0-9])[_-]([A-Za-z0-9])/g, (_, next: string) => next.toUpperCase());
}

function lowerFirst(name: string): string {
  return name.slice(0, 1).toLowerCase() + name.slice(1);
}

function upperFirst(name: string): string {
  return name.slice(0, 1).toUpperCase() + name.slice(1);
}

/** Strings without white space at their ends. */
export const TRIMMED: Reshape = { leaf: strings((text) => text.trim()) };

/** The same, and empty ones are null. */
export const TRIMMED_AND_NULL: Reshape = {
  leaf: (token) => {
    const trimmed = TRIMMED.leaf?.(token) ?? token;
    return trimmed === '""' ? NULL : trimmed;
  },
};

/** Empty strings as null. */
export const EMPTY_AS_NULL: Reshape = { leaf: (token) => (token === '""' ? NULL : token) };

function strings(change: (text: string) => string): (token: string) => string {
  return (token) => {
    if (token.charCodeAt(0) !== 34) return token;
    const text = textOf(token);
    const changed = change(text);
    return changed === text ? token : JSON.stringify(changed);
  };
}

function numbers(change: (token: string) => string): (token: string) => string {
  return (token) => (/^[-0-9]/.test(token) ? change(token) : token);
}

/** Numbers as JavaScript writes them: 3 for 3.0, 100000 for 1e5, and the last digits of long ones lost. */
export const AS_JAVASCRIPT_NUMBERS: Reshape = { leaf: numbers((token) => String(Number(token))) };

/** Numbers as PHP writes them: 3 for 3.0 as in JavaScript, but 1.0e-5. */
export const AS_PHP_NUMBERS: Reshape = {
  leaf: numbers((token) => {
    const value = Number(token);
    const isPlain = value === 0 || (Math.abs(value) < 1e17 && Math.abs(value) >= 1e-4);
    return isPlain ? String(value) : value.toExponential().replace(/^(-?[0-9])e/, "$1.0e");
  }),
};

/** Numbers of PHP, and [] for {}, as its arrays have it. */
export const AS_PHP_ARRAYS: Reshape = {
  leaf: (token) => AS_PHP_NUMBERS.leaf?.(token) ?? token,
  object: (object) => (object.members.length === 0 ? { items: [] } : object),
};

/** Every number a double: 3.0 for 3. */
export const AS_DOUBLES: Reshape = { leaf: numbers((token) => asDouble(token, 1e7)) };

/** The same, and members that are null left out. */
export const AS_DOUBLES_WITHOUT_NULLS: Reshape = { ...AS_DOUBLES, ...NULLS_LEFT_OUT };

/** What has a period or an exponent as a double of Java: 100000.0 for 1e5, 1.5 for 1.50. */
export const AS_JAVA_NUMBERS: Reshape = {
  leaf: numbers((token) => (/[.e]/i.test(token) ? asDouble(token, 1e7) : token)),
};

/** The same as Python writes them. */
export const AS_PYTHON_NUMBERS: Reshape = {
  leaf: numbers((token) => (/[.e]/i.test(token) ? asPythonFloat(token) : token)),
};

/** The same as Ruby writes them. */
export const AS_RUBY_NUMBERS: Reshape = {
  leaf: numbers((token) =>
    /[.e]/i.test(token) ? asPythonFloat(token).replace(/^(-?[0-9])e/, "$1.0e") : token,
  ),
};

/** The same as Json.NET of C# writes them. */
export const AS_CSHARP_NUMBERS: Reshape = {
  leaf: numbers((token) => (/[.e]/i.test(token) ? asCsharpDouble(token) : token)),
};

function asDouble(token: string, largest: number): string {
  const value = Number(token);
  if (value !== 0 && (Math.abs(value) >= largest || Math.abs(value) < 1e-3))
    return value
      .toExponential()
      .replace(/^(-?[0-9])e/, "$1.0e")
      .replace("e+", "E")
      .replace("e", "E");
  return Number.isInteger(value) ? `${value}.0` : String(value);
}

function asPythonFloat(token: string): string {
  const value = Number(token);
  if (value !== 0 && (Math.abs(value) >= 1e16 || Math.abs(value) < 1e-4))
    return value.toExponential().replace(/e([+-])([0-9])$/, "e$10$2");
  return Number.isInteger(value) ? `${value}.0` : String(value);
}

function asCsharpDouble(token: string): string {
  const value = Number(token);
  if (value !== 0 && (Math.abs(value) >= 1e15 || Math.abs(value) < 1e-4))
    return value
      .toExponential()
      .replace(/e([+-])([0-9])$/, "e$10$2")
      .replace("e", "E");
  return Number.isInteger(value) ? `${value}.0` : String(value);
}

/** Numbers of PHP with serialize_precision = 17, or 14, as old versions have it. */
export const WITH_17_DIGITS: Reshape = { leaf: numbers((token) => withDigits(token, 17)) };
export const WITH_14_DIGITS: Reshape = { leaf: numbers((token) => withDigits(token, 14)) };

function withDigits(token: string, digits: number): string {
  const value = Number(token);
  if (Number.isInteger(value) || Math.abs(value) < 1e-4 || Math.abs(value) >= 1e15) return token;
  return value.toPrecision(digits).replace(/(?<!0)0+$/, "");
}

/** Numbers with two decimals, as amounts have them. */
export const WITH_CENTS: Reshape = {
  leaf: numbers((token) => (/^-?[0-9]{1,15}\.[0-9]$/.test(token) ? `${token}0` : token)),
};

/** true and false as 1 and 0. */
export const BITS: Reshape = { leaf: (token) => (token === "true" ? "1" : token === "false" ? "0" : token) };

/** What is null as a number that JSON does not have. */
export const NULL_AS_NAN: Reshape = { leaf: (token) => (token === NULL ? "NaN" : token) };
export const NULL_AS_INFINITY: Reshape = { leaf: (token) => (token === NULL ? "Infinity" : token) };

/** What is null as an empty string. */
export const NULL_AS_EMPTY: Reshape = { leaf: (token) => (token === NULL ? '""' : token) };

/** Lists as objects with numbers for names, as JSON_FORCE_OBJECT of PHP has them; empty ones alone are known here. */
export const MEMBERS_REVERSED: Reshape = {
  members: (members, _texts, isTop) => (isTop ? members.toReversed() : members),
};

/** One member of the outermost object left out, or moved to its end or its beginning; `at` counts from the end below 0. */
export function withoutMember(at: number): Reshape {
  return atMember(at, (members, index) => members.toSpliced(index, 1));
}
export function withMemberLast(at: number): Reshape {
  return atMember(at, (members, index) => [
    ...members.toSpliced(index, 1),
    ...members.slice(index, index + 1),
  ]);
}
export function withMemberFirst(at: number): Reshape {
  return atMember(at, (members, index) => [
    ...members.slice(index, index + 1),
    ...members.toSpliced(index, 1),
  ]);
}

function atMember(
  at: number,
  change: (members: readonly JsonMember[], index: number) => readonly JsonMember[],
): Reshape {
  return {
    members(members, _texts, isTop) {
      const index = at < 0 ? members.length + at : at;
      return isTop && members.length > 1 && index >= 0 && index < members.length
        ? change(members, index)
        : members;
    },
  };
}

/** Numbers, and true and false, as strings. */
export const NUMBERS_AS_TEXT: Reshape = { leaf: numbers((token) => `"${token}"`) };

/** Strings that are numbers as numbers. */
export const TEXT_AS_NUMBERS: Reshape = {
  leaf: (token) => (/^"-?(?:0|[1-9][0-9]{0,14})(?:\.[0-9]+)?"$/.test(token) ? token.slice(1, -1) : token),
};

const DATE = /^"([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2})(?:\.[0-9]{1,9})?(?:Z|\+00:?00)"$/;

/** Every date in UTC in another spelling. `fraction` stands after the seconds. */
function dates(write: (seconds: string, token: string) => string): Reshape {
  return {
    leaf: (token) => {
      const [, seconds] = token.length <= 40 ? (DATE.exec(token) ?? []) : [];
      return seconds === undefined ? token : `"${write(seconds, token)}"`;
    },
  };
}

export const DATE_SPELLINGS: readonly Reshape[] = [
  dates((seconds) => `${seconds}Z`),
  dates((seconds) => `${seconds}.000Z`),
  dates((seconds) => `${seconds}.000000Z`),
  dates((seconds) => `${seconds}+00:00`),
  dates((seconds) => `${seconds.replace("T", " ")}+00:00`),
  dates((seconds) => `${seconds}.000000+00:00`),
  dates((seconds) => `${seconds}.000+00:00`),
  dates((seconds) => `${seconds}.000+0000`),
  dates((seconds) => `${seconds}+0000`),
  dates((seconds) => seconds),
  dates((seconds) => seconds.replace("T", " ")),
  dates((seconds) => `${seconds.replace("T", " ")} UTC`),
  dates((seconds) => `${seconds.replace("T", " ")}+00`),
  dates((_, token) => token.slice(1, -1).replace(/(?:Z|\+00:?00)$/, "+00:00")),
];
