// Rows of JSON that was written in one way to sign and in another to send.
import type { RepeatableMistake } from "../../rows/mistake.js";
import { AS_GO_MAPS, BY_LENGTH, SORTED } from "../../texts/json-changes.js";
import {
  angleQuotes,
  apostropheQuotes,
  asciiQuotes,
  astralCapitalQuotes,
  astralQuotes,
  asWritten,
  capitalQuotes,
  dotnetHtmlQuotes,
  dotnetQuotes,
  escapes,
  goControlQuotes,
  gsonQuotes,
  htmlQuotes,
  type JsonStyle,
  numberedQuotes,
  phpApostropheQuotes,
  phpHexQuotes,
  phpQuotes,
  phpTagQuotes,
  phpTagSlashQuotes,
  plainQuotes,
  plusQuotes,
  powershellQuotes,
  quoteQuotes,
  slashQuotes,
  tagEndQuotes,
} from "../../texts/json-writer.js";
import { hasLostLineBreaks } from "../../texts/line-breaks.js";
import { powershellText } from "../../texts/powershell.js";
import { OTHER_TEXT_MISTAKES } from "./body-other-text.js";
import { PRINTED_MISTAKES } from "./body-printed.js";
import { NUMBER_MISTAKES, SHAPE_MISTAKES } from "./body-shape.js";
import {
  COMPACT,
  inStyle,
  ONCE,
  ONCE_PYTHON,
  PHP,
  PYTHON,
  type Reserialise,
  SPACED,
  shaped,
} from "./body-styles.js";

const JACKSON = {
  comma: ",",
  colon: " : ",
  indent: "  ",
  arraysInline: true,
  emptyArray: "[ ]",
  emptyObject: "{ }",
};
const SWIFT = { comma: ",", colon: " : ", indent: "  ", emptyArray: "[\n{n}]", emptyObject: "{\n{n}}" };
const JSONB_PRETTY = { comma: ",", colon: ": ", indent: "    ", emptyArray: "[{n}]", emptyObject: "{{n}}" };

const MARIADB = { comma: ",", colon: ": ", indent: "    ", emptyObject: "{{n}}", bracketsOnOwnLine: true };

/** The JSON was written in one way when it was signed, and in another way when it was sent. */
export const SERIALISING_MISTAKES: readonly RepeatableMistake<Reserialise>[] = [
  ...NUMBER_MISTAKES,
  {
    id: "body-compact",
    title: "Body signed without white space",
    message:
      "It matches if the body is parsed and written again without white space, as JSON.stringify does.",
    fix: `${ONCE} To verify, take the bytes as received: await request.text(), or express.raw().`,
    listener: {
      family: "body",
      accepts: "signatures over the body written again without white space",
      bug: "it parses the body and serialises it again before it verifies",
    },
    ways: [
      [1, stringified],
      // With the escapes as they came, which the same printer has written in both ways.
      [1, inStyle({ comma: ",", colon: ":", quote: asWritten })],
      [2, inStyle({ comma: ",", colon: ":", quote: plainQuotes })],
    ],
  },
  {
    id: "body-spaced",
    title: "Body signed with spaces",
    message:
      "It matches if the body is written with a space after commas and colons, as Python's json.dumps does.",
    fix: ONCE_PYTHON,
    listener: {
      family: "body",
      accepts: "signatures over the body written again with spaces, as Python's json.dumps does",
      bug: "it parses the body and serialises it again before it verifies",
    },
    ways: [
      [1, inStyle({ comma: ", ", colon: ": ", quote: asciiQuotes })],
      [2, inStyle({ comma: ", ", colon: ": ", quote: plainQuotes })],
      // Slashes too: PHP with a replacement of its own, and the JSON of Oracle and SQL Server.
      [3, inStyle({ comma: ", ", colon: ": ", quote: phpQuotes })],
      // PostgreSQL's json_build_object
      [3, inStyle({ comma: ", ", colon: " : ", quote: plainQuotes })],
      // One of the two alone.
      [4, inStyle({ comma: ", ", colon: ":", quote: plainQuotes })],
      [4, inStyle({ comma: ",", colon: ": ", quote: plainQuotes })],
      [4, inStyle({ comma: ",", colon: " : ", quote: plainQuotes })],
    ],
  },
  {
    id: "body-line-breaks-removed",
    title: "Line breaks of the body lost",
    message:
      "It matches if the body has its line breaks: they were removed when it was sent, as curl -d @file does.",
    fix: "Send the file as it is: curl --data-binary @body.json, not -d @body.json.",
    ways: [
      ...["  ", "    ", "\t", " ", "   "].flatMap((indent) => {
        const write = broken(indented(indent, asWritten));
        return [write, ended(write), onWindows(write), onWindows(ended(write))].map(
          (way) => [1, way] as const,
        );
      }),
      ...[unbroken, ended(unbroken), onWindows(unbroken), onWindows(ended(unbroken))].map(
        (way) => [3, way] as const,
      ),
    ],
  },
  {
    id: "body-indented",
    title: "Body signed with indentation",
    message:
      "It matches if the body is written over several lines with indentation, as JSON.stringify(…, 2) does.",
    fix: ONCE,
    listener: {
      family: "body",
      accepts: "signatures over the body written again with indentation",
      bug: "it parses the body and serialises it again before it verifies",
    },
    ways: [
      [1, indented("  ", plainQuotes)],
      [2, indented("    ", plainQuotes)],
      [2, indented("\t", plainQuotes)],
      [3, indented("  ", asciiQuotes)],
      [3, indented("    ", asciiQuotes)],
      [3, indented("    ", phpQuotes)],
      [3, indented("  ", htmlQuotes)],
      [3, indented("  ", gsonQuotes)],
      [3, indented("  ", dotnetQuotes)],
      [4, indented("    ", (text) => slashQuotes(text))],
      [4, indented(" ", plainQuotes)],
      [4, indented("   ", plainQuotes)],
      [4, indented("        ", plainQuotes)],
      // With the line break of an Encoder or of print at the end, and with those of Windows.
      [3, escaped(htmlQuotes, (quote) => ended(indented("  ", quote)))],
      [4, escaped(asciiQuotes, (quote) => ended(indented("    ", quote)))],
      [4, escaped(dotnetQuotes, (quote) => onWindows(indented("  ", quote)))],
      // An editor on Windows: two everyday mistakes are found together, these are further away.
      [4, onWindows(ended(indented("  ", plainQuotes)))],
      ...["    ", "\t"].flatMap((indent) => [
        [4, onWindows(indented(indent, plainQuotes))] as const,
        [4, onWindows(ended(indented(indent, plainQuotes)))] as const,
      ]),
      [3, shaped(SORTED, { comma: ",", colon: ": ", indent: "    ", quote: plainQuotes })],
    ],
  },
  {
    id: "body-pretty-printed",
    title: "Body signed as a pretty printer writes it",
    message:
      "It matches if the body is written over several lines with indentation, as Jackson, Swift, Perl, Ruby, PowerShell or jsonb_pretty print it.",
    fix: `${ONCE} Print for people only, not for what is signed.`,
    ways: [
      // Jackson, and Apex: arrays stay on one line.
      [3, inStyle({ ...JACKSON, quote: plainQuotes })],
      // Swift, with and without .withoutEscapingSlashes; Foundation puts an empty line into empty arrays.
      [3, inStyle({ ...SWIFT, quote: (text) => slashQuotes(text) })],
      [3, shaped(SORTED, { ...SWIFT, quote: (text) => slashQuotes(text) })],
      [3, inStyle({ ...SWIFT, quote: plainQuotes })],
      [3, shaped(SORTED, { ...SWIFT, quote: plainQuotes })],
      // Perl, in the order it came and in canonical order.
      [3, inStyle({ comma: ",", colon: " : ", indent: "   ", quote: plainQuotes })],
      [3, shaped(SORTED, { comma: ",", colon: " : ", indent: "   ", quote: plainQuotes })],
      // It ends with a line break.
      [3, ended(shaped(SORTED, { comma: ",", colon: " : ", indent: "   ", quote: plainQuotes }))],
      // Ruby: nothing between the brackets of an empty array but line breaks.
      [
        3,
        inStyle({
          comma: ",",
          colon: ": ",
          indent: "  ",
          emptyArray: "[\n{n}]",
          emptyObject: "{{n}}",
          quote: plainQuotes,
        }),
      ],
      [3, shaped(BY_LENGTH, { ...JSONB_PRETTY, quote: plainQuotes })],
      [3, inStyle({ ...JSONB_PRETTY, quote: plainQuotes })],
      // ConvertTo-Json of PowerShell 5, with the line breaks of Windows.
      [3, (json) => json && powershellText(json)],
      // MariaDB's JSON_DETAILED: brackets begin a line of their own.
      [3, inStyle({ ...MARIADB, quote: plainQuotes })],
    ],
  },
  {
    id: "body-keys-sorted",
    title: "Body signed with its keys sorted",
    message:
      "It matches if the body's keys are in alphabetical order, or if the names of the top level alone are left, as with JSON.stringify(payload, Object.keys(payload).sort()).",
    fix: `${ONCE} The order of the keys counts, because the bytes are signed.`,
    listener: {
      family: "body",
      accepts: "signatures over the body with its keys sorted",
      bug: "it parses the body and sorts its keys before it verifies",
    },
    ways: [
      [1, shaped(SORTED, COMPACT)],
      [2, shaped(SORTED, PYTHON)],
      [2, shaped(SORTED, { comma: ",", colon: ":", quote: asciiQuotes })],
      [2, shaped(SORTED, { comma: ",", colon: ":", quote: htmlQuotes })],
      [3, shaped(SORTED, { comma: ",", colon: ":", indent: "  ", quote: plainQuotes })],
      [3, shaped(AS_GO_MAPS, { comma: ",", colon: ":", quote: htmlQuotes })],
      [3, shaped(SORTED, SPACED)],
      [3, shaped(SORTED, PHP)],
      [3, shaped(SORTED, { comma: ",", colon: ":", quote: (text) => slashQuotes(text) })],
      [3, shaped(SORTED, { comma: ",", colon: ": ", indent: "  ", quote: plainQuotes })],
      [3, shaped(SORTED, { comma: ",", colon: ": ", indent: "  ", quote: htmlQuotes })],
      [3, shaped(SORTED, { comma: ",", colon: ": ", indent: "    ", quote: asciiQuotes })],
      [3, ofTopNames],
    ],
  },
  {
    id: "body-ascii-escaped",
    title: "Body signed with \\u escapes",
    message: "It matches if characters beyond ASCII are written as \\uXXXX, as Python's ensure_ascii does.",
    fix: ONCE_PYTHON,
    listener: {
      family: "body",
      accepts: "signatures over the body written again with \\u escapes",
      bug: "it parses the body and serialises it again before it verifies",
    },
    ways: [
      [1, inStyle({ comma: ",", colon: ":", quote: asciiQuotes })],
      [2, inStyle({ comma: ",", colon: ":", quote: dotnetQuotes })],
      [4, inStyle({ comma: ",", colon: ":", quote: astralQuotes })],
      [4, inStyle({ comma: ",", colon: ":", quote: astralCapitalQuotes })],
      [4, inStyle({ comma: ",", colon: ":", quote: capitalQuotes })],
      [4, inStyle({ comma: ",", colon: ":", quote: numberedQuotes })],
      [4, inStyle({ comma: ", ", colon: ":", quote: asciiQuotes })],
      [4, inStyle({ comma: ",", colon: ": ", quote: asciiQuotes })],
    ],
  },
  {
    id: "body-slashes-escaped",
    title: "Body signed with escaped slashes",
    message: "It matches if slashes are written as \\/, as PHP's json_encode does.",
    fix: "Serialise once, and sign and send the same text: $body = json_encode($payload).",
    listener: {
      family: "body",
      accepts: "signatures over the body written again with escaped slashes, as PHP's json_encode does",
      bug: "it parses the body and serialises it again before it verifies",
    },
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
    listener: {
      family: "body",
      accepts: "signatures over the body written again with <, > and & escaped",
      bug: "it parses the body and serialises it again before it verifies",
    },
    ways: [
      [2, inStyle({ comma: ",", colon: ":", quote: htmlQuotes })],
      // With the line break of an Encoder.
      [3, escaped(htmlQuotes, (quote) => ended(inStyle({ comma: ",", colon: ":", quote })))],
      [3, escaped(htmlQuotes, (quote) => ended(shaped(SORTED, { comma: ",", colon: ":", quote })))],
      [4, inStyle({ comma: ",", colon: ":", quote: goControlQuotes })],
      [4, inStyle({ comma: ",", colon: ":", quote: dotnetHtmlQuotes })],
      [4, inStyle({ comma: ",", colon: ":", quote: tagEndQuotes })],
    ],
  },
  {
    id: "body-quotes-escaped",
    title: "Body signed with ', = or quotes escaped",
    message:
      "It matches if <, > and ' are escaped, and &, = or quotes with them, as Gson, JavaScriptSerializer of .NET, ConvertTo-Json of PowerShell 5 and PHP's JSON_HEX_* do.",
    fix: `${ONCE} In Java new GsonBuilder().disableHtmlEscaping().`,
    ways: [
      [3, inStyle({ comma: ",", colon: ":", quote: gsonQuotes })],
      [3, inStyle({ comma: ",", colon: ":", quote: powershellQuotes })],
      [3, inStyle({ comma: ",", colon: ":", quote: phpHexQuotes })],
      [3, inStyle({ comma: ",", colon: ":", quote: angleQuotes })],
      [4, inStyle({ comma: ",", colon: ":", quote: phpTagQuotes })],
      [4, inStyle({ comma: ",", colon: ":", quote: phpTagSlashQuotes })],
      [4, inStyle({ comma: ",", colon: ":", quote: phpApostropheQuotes })],
      [4, inStyle({ comma: ",", colon: ":", quote: quoteQuotes })],
      [4, inStyle({ comma: ",", colon: ":", quote: plusQuotes })],
      [4, inStyle({ comma: ",", colon: ":", quote: apostropheQuotes })],
    ],
  },
  ...SHAPE_MISTAKES,
  ...OTHER_TEXT_MISTAKES,
  ...PRINTED_MISTAKES,
];

function stringified(json: Parameters<Reserialise>[0]): string | undefined {
  try {
    return json && JSON.stringify(JSON.parse(json.text));
  } catch {
    return undefined; // nested too deeply for the engine
  }
}

/** A list of names as the replacer of JSON.stringify: others are left out, also within. */
function ofTopNames(json: Parameters<Reserialise>[0]): string | undefined {
  if (typeof json?.tree !== "object" || !("members" in json.tree)) return undefined;
  const value = JSON.parse(json.text) as object;
  return JSON.stringify(value, Object.keys(value).sort());
}

function indented(indent: string, quote: JsonStyle["quote"]): Reserialise {
  return inStyle({ comma: ",", colon: ": ", indent, quote });
}

function ended(write: Reserialise): Reserialise {
  return (json) => {
    const text = write(json);
    return text && `${text}\n`;
  };
}

/**
 * What is written with these quotes, where they escape something. Where they do not, it is what plain ones write, and
 * what was done to that afterwards is found as a mistake of its own.
 */
function escaped(quote: JsonStyle["quote"], write: (quote: JsonStyle["quote"]) => Reserialise): Reserialise {
  const written = write(quote);
  return (json) => (json && escapes(json, quote) ? written(json) : undefined);
}

function onWindows(write: Reserialise): Reserialise {
  return (json) => write(json)?.replaceAll("\n", "\r\n");
}

/** What is written, where nothing but its line breaks is missing in what was received. */
function broken(write: Reserialise): Reserialise {
  return (json) => {
    if (json === undefined || !hasLostLineBreaks(json.text)) return undefined;
    const text = write(json);
    return text?.replaceAll("\n", "") === json.text ? text : undefined;
  };
}

/** A line break before each indentation, and before each bracket that ends it. */
function unbroken(json: Parameters<Reserialise>[0]): string | undefined {
  if (json === undefined || !hasLostLineBreaks(json.text)) return undefined;
  return json.text.replace(/([{[,])( {2,}|\t+)/g, "$1\n$2").replace(/[\]}]$/, "\n$&");
}
