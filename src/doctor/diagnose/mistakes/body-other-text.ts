// Rows of texts that were signed in place of the JSON body.
import type { RepeatableMistake } from "../../rows/mistake.js";
import { SORTED } from "../../texts/json-changes.js";
import type { Json } from "../../texts/json-shapes.js";
import { type JsonStyle, noQuotes, plainQuotes, pythonQuotes, writeJson } from "../../texts/json-writer.js";
import { formOf, phpSerialised } from "../../texts/other-text.js";
import { withVariableAt } from "../../texts/variables.js";
import {
  COMPACT,
  inStyle,
  ONCE,
  ONCE_PYTHON,
  PHP,
  PYTHON,
  RAW_BODY,
  type Reserialise,
} from "./body-styles.js";

const READ = `Read or write the body first, then sign it. ${ONCE}`;

/** What JavaScript, PHP and .NET make of a value that is no text. */
const VALUES = [
  "[object Promise]",
  "[object ReadableStream]",
  "[object Uint8Array]",
  "[object ArrayBuffer]",
  "[object Blob]",
  "[object Request]",
  "[object FormData]",
  "[object AsyncGenerator]",
  "System.IO.MemoryStream",
  "System.Byte[]",
  "System.Text.Json.JsonElement",
  "System.Collections.Generic.Dictionary`2[System.String,System.Object]",
];

const FORM_FIX = `${ONCE} Let the sender use JSON, not a form, and the listener the raw body. ${RAW_BODY}`;

/** str() of Python's dicts and lists. */
const PYTHON_REPR: JsonStyle = {
  comma: ", ",
  colon: ": ",
  quote: pythonQuotes,
  literals: { true: "True", false: "False", null: "None" },
};

/** How many members are tried one by one. */
const FIRST = [0, 1, 2, 3, 4, 5, 6, 7];

/** Members that hold what was sent, in an envelope. */
const MEMBERS = ["data", "payload", "body", "event", "message", "object", "detail", "record"];

/** A text was signed that is no JSON, or only a part of the body. */
export const OTHER_TEXT_MISTAKES: readonly RepeatableMistake<Reserialise>[] = [
  {
    id: "body-empty",
    title: "Empty body signed",
    message:
      "It matches with an empty body: the body was not there yet when the request was signed, or was already consumed.",
    fix: READ,
    listener: {
      family: "body",
      accepts: "signatures over an empty body",
      bug: "the body is consumed before it verifies",
    },
    ways: [[1, () => ""]],
  },
  {
    id: "body-as-object",
    title: "An object signed instead of its text",
    message:
      "It matches if the body is an object that is turned into text without JSON.stringify: [object Object].",
    fix: ONCE,
    listener: {
      family: "body",
      accepts: "signatures over [object Object]",
      bug: "it verifies the parsed body as text",
    },
    ways: [[1, () => "[object Object]"]],
  },
  {
    id: "body-python-repr",
    title: "A Python value signed instead of JSON",
    message:
      'It matches if the body is a Python value turned into text, with single quotes, as f"{payload}" does.',
    fix: ONCE_PYTHON,
    listener: {
      family: "body",
      accepts: "signatures over a Python value",
      bug: "it verifies the parsed body as text",
    },
    ways: [[1, inStyle(PYTHON_REPR)]],
  },
  {
    id: "body-ruby-inspect",
    title: "A Ruby hash signed instead of JSON",
    message: 'It matches if the body is a Ruby hash turned into text with =>, as "#{payload}" does.',
    fix: "Serialise once, and sign and send the same text: body = JSON.generate(payload).",
    listener: {
      family: "body",
      accepts: "signatures over a Ruby hash",
      bug: "it verifies the parsed body as text",
    },
    ways: [
      [3, inStyle({ comma: ", ", colon: "=>", quote: plainQuotes, literals: { null: "nil" } })],
      [3, inStyle({ comma: ", ", colon: " => ", quote: plainQuotes, literals: { null: "nil" } })],
    ],
  },
  {
    id: "body-undefined",
    title: "No body signed",
    message:
      'It matches with the word "undefined", "null" or "None" as body: there was none when the request was signed.',
    fix: `Sign what you send. ${ONCE}`,
    listener: {
      family: "body",
      accepts: "signatures over the word undefined or null",
      bug: "it has no body when it verifies",
    },
    ways: ["undefined", "null", "None"].map((text) => [3, () => text] as const),
  },
  {
    id: "body-as-value",
    title: "A value signed that is no text",
    message:
      "It matches if the body is the text of a value that has none, such as a promise, a stream or an array: [object Promise].",
    fix: `Await it, or read it, and take its text: await request.text(). ${ONCE}`,
    ways: VALUES.map((text) => [3, () => text] as const),
  },
  {
    id: "body-array-as-text",
    title: "An array of PHP signed as text",
    message: 'It matches with the word "Array" as body: an array of PHP, or a list, was turned into text.',
    fix: `${ONCE} In PHP $body = json_encode($payload).`,
    ways: ["Array", "array", "ARRAY"].map((text) => [3, () => text] as const),
  },
  {
    id: "body-empty-object",
    title: "An empty object signed",
    message:
      "It matches with {} or [] as body: the parser had skipped the request, for its Content-Type or because the body was read before.",
    fix: RAW_BODY,
    ways: [
      [3, () => "{}"],
      [3, () => "[]"],
      [3, () => '""'],
    ],
  },
  {
    id: "body-form-encoded",
    title: "Body signed as a form",
    message: "It matches if the body's members are form-encoded: name=value&name=value.",
    fix: FORM_FIX,
    ways: [
      [3, form("php")],
      [3, form("web")],
      [3, form("python")],
      [3, form("rails")],
    ],
  },
  {
    id: "body-php-serialised",
    title: "Body signed as PHP serialises it",
    message: "It matches if the body is what serialize() of PHP makes of it.",
    fix: `Use json_encode, once. ${ONCE}`,
    ways: [[3, (json) => (json?.tree === undefined ? undefined : phpSerialised(json.tree, json.texts))]],
  },
  {
    id: "body-map-as-text",
    title: "A map of Java, Go or Elixir signed as text",
    message:
      'It matches if the body is the text of a map of Java, {type=…}, of Go, map[type:…], or of Elixir, %{"type" => …}.',
    fix: `${ONCE} In Java mapper.writeValueAsString(payload), in Go json.Marshal(payload), in Elixir Jason.encode!(payload).`,
    ways: [
      [3, inStyle({ comma: ", ", colon: "=", quote: noQuotes })],
      [3, (json) => json && goMap(json)],
      [
        3,
        inStyle({
          comma: ", ",
          colon: " => ",
          quote: plainQuotes,
          literals: { null: "nil" },
          openObject: "%{",
          emptyObject: "%{}",
        }),
      ],
    ],
  },
  {
    id: "body-one-member",
    title: "One member of the body signed",
    message: "It matches if one member of the body, or one item of its list, is signed, not the whole body.",
    fix: `Sign the whole body. ${ONCE} ${RAW_BODY}`,
    ways: [
      ...MEMBERS.map((name) => [3, member(name)] as const),
      [3, member("data", PYTHON)],
      [3, member("payload", PYTHON)],
      [3, member("data", PHP)],
      // A list or an object under any name.
      ...[COMPACT, PYTHON].flatMap((style) => FIRST.map((at) => [4, memberAt(at, style)] as const)),
    ],
  },
  {
    id: "body-with-variables",
    title: "A template signed with its variables",
    message:
      "It matches if one text of the body is the variable that it was filled in from, such as {{userId}}: the template was signed, and what was made of it was sent.",
    fix: "Fill the template in first, and sign and send what is made of it.",
    ways: FIRST.map((at) => [4, (json) => json && withVariableAt(json, at)] as const),
  },
];

function form(kind: Parameters<typeof formOf>[2]): Reserialise {
  return (json) => {
    if (json?.tree === undefined) return undefined;
    const repr = (part: Json) => writeJson(json.of(part), PYTHON_REPR);
    return formOf(json.tree, json.texts, kind, repr);
  };
}

function goMap(json: NonNullable<Parameters<Reserialise>[0]>): string | undefined {
  const text = writeJson(json.reshaped(SORTED) ?? json, {
    comma: " ",
    colon: ":",
    quote: noQuotes,
    literals: { null: "<nil>" },
    emptyObject: "map[]",
  });
  return text?.replaceAll("{", "map[").replaceAll("}", "]");
}

function memberAt(at: number, style: JsonStyle): Reserialise {
  return (json) => {
    if (typeof json?.tree !== "object") return undefined;
    const inside = "members" in json.tree ? json.tree.members[at]?.[1] : json.tree.items[at];
    return typeof inside === "object" ? writeJson(json.of(inside), style) : undefined;
  };
}

function member(name: string, style = COMPACT): Reserialise {
  const token = JSON.stringify(name);
  return (json) => {
    if (typeof json?.tree !== "object" || !("members" in json.tree)) return undefined;
    const { texts, tree } = json;
    const [, inside] = tree.members.find(([one]) => texts.token(one) === token) ?? [];
    if (inside === undefined) return undefined;
    if (typeof inside !== "number") return writeJson(json.of(inside), style);
    return texts.token(inside).startsWith('"') ? texts.text(inside) : undefined;
  };
}
