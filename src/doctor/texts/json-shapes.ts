// Changes the shape of JSON: order, members and nesting.

import { decodeUtf8 } from "../../core/bytes.js";
import { MAX_DEPTH, TOKEN } from "./json-tree.js";
import {
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  COLON,
  COMMA,
  type JsonTokens,
  OPEN_ARRAY,
  OPEN_OBJECT,
  type TokenTable,
  textOf,
  tokenTable,
} from "./json-writer.js";
import { type Numbers, numbersIn } from "./numbers.js";
import { type MemberText, memberTextsIn } from "./variables.js";

/** A JSON value, taken apart: the number of a token, or what is between brackets. */
export type Json = number | JsonObject | JsonArray;
export interface JsonObject {
  readonly members: readonly JsonMember[];
}
export interface JsonArray {
  readonly items: readonly Json[];
}
/** The number of a name's token, and the value. */
export type JsonMember = readonly [name: number, value: Json];

/** What to do with a value's parts; what is returned unchanged stays the same. */
export interface Reshape {
  /** Changes the token of a name. */
  readonly name?: (token: string) => string;
  /** Changes the token of a string, a number or a word. */
  readonly leaf?: (token: string) => string;
  /** Changes the members of an object; `textOf` gives a name, or a token's text. */
  readonly members?: (members: readonly JsonMember[], texts: Texts, isTop: boolean) => readonly JsonMember[];
  /** Changes an object whose members are done into something else. */
  readonly object?: (object: JsonObject) => Json;
}

/** The texts behind the numbers. */
export interface Texts {
  /** A token as it is written. */
  token(number: number): string;
  /** The text of a string's token. */
  text(number: number): string;
}

/** A received JSON body, parsed once for all the ways in which it may have been written. */
export interface ReceivedJson extends JsonTokens {
  /** The whole text as it was received. */
  readonly text: string;
  readonly texts: Texts;
  /** Its numbers with their places, looked up once: one body is written in many ways. */
  readonly numbers: Numbers;
  /** The texts that are members' values, looked up once. */
  readonly memberTexts: readonly MemberText[];
  /** The value, taken apart; `undefined` if nested too deeply. */
  readonly tree: Json | undefined;
  /** A part of the value, or what a change has made of it. */
  of(tree: Json): ReceivedJson;
  /** What a change makes of the value; `undefined` if it changes nothing. It is worked out once. */
  reshaped(change: Reshape): ReceivedJson | undefined;
}

/** Reads a body as JSON and ignores a byte order mark; `undefined` if it is not JSON. */
export function readJson(bytes: Uint8Array): ReceivedJson | undefined {
  const text = decodeUtf8(bytes)?.replace(/^\uFEFF/, "");
  if (text === undefined) return undefined;
  try {
    JSON.parse(text);
  } catch {
    return undefined;
  }
  const table = tokenTable();
  const tokens = (text.match(TOKEN) ?? []).map((token) => table.numberOf(token));
  return received(text, tokens, table, textsOf(table));
}

function textsOf({ texts }: TokenTable): Texts {
  const decoded: string[] = [];
  return {
    token: (number) => texts[number] ?? "",
    text: (number) => {
      decoded[number] ??= textOf(texts[number] ?? '""');
      return decoded[number];
    },
  };
}

function received(
  text: string,
  tokens: readonly number[],
  table: TokenTable,
  texts: Texts,
  known?: Json,
): ReceivedJson {
  let tree: { of: Json | undefined } | undefined = known === undefined ? undefined : { of: known };
  const made = new Map<Reshape, ReceivedJson | undefined>();
  let numbers: Numbers | undefined;
  let memberTexts: readonly MemberText[] | undefined;
  const json: ReceivedJson = {
    text,
    tokens,
    table,
    texts,
    maxLength: 1_024 + 4 * text.length,
    get numbers() {
      numbers ??= numbersIn(text);
      return numbers;
    },
    get memberTexts() {
      memberTexts ??= memberTextsIn(text);
      return memberTexts;
    },
    get tree() {
      tree ??= { of: readValue({ tokens, at: 0 }, 0) };
      return tree.of;
    },
    of: (part) => received(text, flat(part, []), table, texts, part),
    reshaped(change) {
      if (!made.has(change)) made.set(change, isOfTokens(change) ? byTokens(change) : byTree(change));
      return made.get(change);
    },
  };
  return json;

  function byTokens({ name, leaf }: Reshape): ReceivedJson | undefined {
    const [onName, onLeaf] = [onToken(name, table), onToken(leaf, table)];
    const after = mapped(tokens, (token, index) =>
      token <= COLON ? token : tokens[index + 1] === COLON ? onName(token) : onLeaf(token),
    );
    return after === tokens ? undefined : received(text, after, table, texts);
  }

  function byTree(change: Reshape): ReceivedJson | undefined {
    const before = json.tree;
    const after = before === undefined ? undefined : reshaper(change, table, texts)(before, true);
    return after === undefined || after === before ? undefined : json.of(after);
  }
}

/** Whether a change leaves the order as it is, so that the tokens are gone through and no tree is made. */
function isOfTokens({ members, object }: Reshape): boolean {
  return members === undefined && object === undefined;
}

interface Reader {
  readonly tokens: readonly number[];
  at: number;
}

/** The text is valid, so whatever is not looked at is a comma or a colon. */
function readValue(reader: Reader, depth: number): Json | undefined {
  const token = reader.tokens[reader.at++] ?? 0;
  if (token !== OPEN_OBJECT && token !== OPEN_ARRAY) return token;
  if (depth === MAX_DEPTH) return undefined;
  const isObject = token === OPEN_OBJECT;
  const end = isObject ? CLOSE_OBJECT : CLOSE_ARRAY;
  const members: JsonMember[] = [];
  const items: Json[] = [];
  while (reader.tokens[reader.at] !== end) {
    if (reader.tokens[reader.at] === COMMA) reader.at++;
    const name = reader.tokens[reader.at] ?? 0;
    if (isObject) reader.at += 2;
    const value = readValue(reader, depth + 1);
    if (value === undefined) return undefined;
    if (isObject) members.push([name, value]);
    else items.push(value);
  }
  reader.at++;
  return isObject ? { members } : { items };
}

/** Applies a change from the inside out; what is done to a token is done once, however often it occurs. */
function reshaper(change: Reshape, table: TokenTable, texts: Texts): (value: Json, isTop: boolean) => Json {
  const onName = onToken(change.name, table);
  const onLeaf = onToken(change.leaf, table);
  return reshape;

  function reshape(value: Json, isTop: boolean): Json {
    if (typeof value === "number") return onLeaf(value);
    if ("items" in value) {
      const items = mapped(value.items, (item) => reshape(item, false));
      return items === value.items ? value : { items };
    }
    const within = mapped(value.members, (member) => {
      const [name, inner] = member;
      const newName = onName(name);
      const newInner = reshape(inner, false);
      return newName === name && newInner === inner ? member : ([newName, newInner] as const);
    });
    const members = change.members?.(within, texts, isTop) ?? within;
    const object = members === value.members ? value : { members };
    return change.object?.(object) ?? object;
  }
}

function onToken(
  change: ((token: string) => string) | undefined,
  table: TokenTable,
): (token: number) => number {
  if (change === undefined) return (token) => token;
  const known: number[] = [];
  return (token) => {
    known[token] ??= table.numberOf(change(table.texts[token] ?? ""));
    return known[token];
  };
}

/** The same list if nothing in it has changed. */
function mapped<Value>(
  list: readonly Value[],
  change: (value: Value, index: number) => Value,
): readonly Value[] {
  let changed: Value[] | undefined;
  for (let index = 0; index < list.length; index++) {
    const before = list[index] as Value;
    const after = change(before, index);
    if (after !== before) changed ??= list.slice(0, index);
    changed?.push(after);
  }
  return changed ?? list;
}

function flat(value: Json, into: number[]): number[] {
  if (typeof value === "number") into.push(value);
  else if ("items" in value) {
    into.push(OPEN_ARRAY);
    for (let index = 0; index < value.items.length; index++) {
      if (index > 0) into.push(COMMA);
      flat(value.items[index] as Json, into);
    }
    into.push(CLOSE_ARRAY);
  } else {
    into.push(OPEN_OBJECT);
    for (let index = 0; index < value.members.length; index++) {
      const [name, inner] = value.members[index] as JsonMember;
      if (index > 0) into.push(COMMA);
      into.push(name, COLON);
      flat(inner, into);
    }
    into.push(CLOSE_OBJECT);
  }
  return into;
}
