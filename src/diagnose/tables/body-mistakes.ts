import type { RepeatableMistake } from "../mistake.js";
import {
  asciiQuotes,
  dotnetQuotes,
  htmlQuotes,
  type JsonStyle,
  phpQuotes,
  plainQuotes,
  pythonQuotes,
  type ReceivedJson,
  rewriteJson,
  slashQuotes,
} from "../rewrite.js";

/** The text that was signed, made from the received JSON; `undefined` if there is none. */
export type Reserialise = (json: ReceivedJson | undefined) => string | undefined;

const ONCE = "Serialise once, and sign and send the same text: const body = JSON.stringify(payload).";
const ONCE_PYTHON =
  "Serialise once, and sign and send the same bytes: body = json.dumps(payload).encode(); requests.post(url, data=body), not json=payload.";

/** The JSON was written in one way when it was signed, and in another way when it was sent. */
export const SERIALISING_MISTAKES: readonly RepeatableMistake<Reserialise>[] = [
  {
    id: "body-compact",
    title: "Body signed without white space",
    message:
      "It matches if the body is parsed and written again without white space, as JSON.stringify does.",
    fix: `${ONCE} To verify, take the bytes as received: await request.text(), or express.raw().`,
    ways: [
      [1, stringified],
      [2, inStyle({ comma: ",", colon: ":", quote: plainQuotes })],
    ],
  },
  {
    id: "body-spaced",
    title: "Body signed with spaces",
    message:
      "It matches if the body is written with a space after commas and colons, as Python's json.dumps does.",
    fix: ONCE_PYTHON,
    ways: [
      [1, inStyle({ comma: ", ", colon: ": ", quote: asciiQuotes })],
      [2, inStyle({ comma: ", ", colon: ": ", quote: plainQuotes })],
    ],
  },
  {
    id: "body-indented",
    title: "Body signed with indentation",
    message:
      "It matches if the body is written over several lines with indentation, as JSON.stringify(…, 2) does.",
    fix: ONCE,
    ways: [
      [1, indented("  ", plainQuotes)],
      [2, indented("    ", plainQuotes)],
      [3, indented("\t", plainQuotes)],
      [3, indented("  ", asciiQuotes)],
      [3, indented("    ", asciiQuotes)],
      [3, indented("    ", phpQuotes)],
    ],
  },
  {
    id: "body-keys-sorted",
    title: "Body signed with its keys sorted",
    message: "It matches if the body's keys are in alphabetical order.",
    fix: `${ONCE} The order of the keys counts, because the bytes are signed.`,
    ways: [
      [1, sorted({ comma: ",", colon: ":", quote: plainQuotes })],
      [2, sorted({ comma: ", ", colon: ": ", quote: asciiQuotes })],
      [2, sorted({ comma: ",", colon: ":", quote: asciiQuotes })],
      [2, sorted({ comma: ",", colon: ":", quote: htmlQuotes })],
      [3, sorted({ comma: ",", colon: ":", indent: "  ", quote: plainQuotes })],
    ],
  },
  {
    id: "body-ascii-escaped",
    title: "Body signed with \\u escapes",
    message: "It matches if characters beyond ASCII are written as \\uXXXX, as Python's ensure_ascii does.",
    fix: ONCE_PYTHON,
    ways: [
      [1, inStyle({ comma: ",", colon: ":", quote: asciiQuotes })],
      [2, inStyle({ comma: ",", colon: ":", quote: dotnetQuotes })],
    ],
  },
  {
    id: "body-slashes-escaped",
    title: "Body signed with escaped slashes",
    message: "It matches if slashes are written as \\/, as PHP's json_encode does.",
    fix: "Serialise once, and sign and send the same text: $body = json_encode($payload).",
    ways: [
      [1, inStyle({ comma: ",", colon: ":", quote: phpQuotes })],
      [2, inStyle({ comma: ",", colon: ":", quote: (text) => slashQuotes(text) })],
    ],
  },
  {
    id: "body-html-escaped",
    title: "Body signed with <, > and & escaped",
    message:
      "It matches if <, > and & are written as \\u003c, \\u003e and \\u0026, as Go's json.Marshal does.",
    fix: "Serialise once, and sign and send the same bytes: body, err := json.Marshal(payload).",
    ways: [[2, inStyle({ comma: ",", colon: ":", quote: htmlQuotes })]],
  },
  {
    id: "body-empty",
    title: "Empty body signed",
    message:
      "It matches with an empty body: the body was not there yet when the request was signed, or was already consumed.",
    fix: `Read or write the body first, then sign it. ${ONCE}`,
    ways: [[1, () => ""]],
  },
  {
    id: "body-as-object",
    title: "An object signed instead of its text",
    message:
      "It matches if the body is an object that is turned into text without JSON.stringify: [object Object].",
    fix: ONCE,
    ways: [[1, () => "[object Object]"]],
  },
  {
    id: "body-python-repr",
    title: "A Python value signed instead of JSON",
    message:
      'It matches if the body is a Python value turned into text, with single quotes, as f"{payload}" does.',
    fix: ONCE_PYTHON,
    ways: [
      [
        1,
        inStyle({
          comma: ", ",
          colon: ": ",
          quote: pythonQuotes,
          literals: { true: "True", false: "False", null: "None" },
        }),
      ],
    ],
  },
  {
    id: "body-ruby-inspect",
    title: "A Ruby hash signed instead of JSON",
    message: 'It matches if the body is a Ruby hash turned into text with =>, as "#{payload}" does.',
    fix: "Serialise once, and sign and send the same text: body = JSON.generate(payload).",
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
    ways: ["undefined", "null", "None"].map((text) => [3, () => text] as const),
  },
];

function stringified(json: ReceivedJson | undefined): string | undefined {
  try {
    return json && JSON.stringify(json.value);
  } catch {
    return undefined; // nested too deeply for the engine
  }
}

function inStyle(style: JsonStyle): Reserialise {
  return (json) => json && rewriteJson(json.tokens, style, json.maxLength);
}

function sorted(style: JsonStyle): Reserialise {
  return (json) => json?.sorted && rewriteJson(json.sorted, style, json.maxLength);
}

function indented(indent: string, quote: JsonStyle["quote"]): Reserialise {
  return inStyle({ comma: ",", colon: ": ", indent, quote });
}
