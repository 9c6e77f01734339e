// Rows of numbers and members that were written in another way.
import type { RepeatableMistake } from "../../rows/mistake.js";
import {
  AS_CSHARP_NUMBERS,
  AS_DOUBLES,
  AS_DOUBLES_WITHOUT_NULLS,
  AS_JAVA_NUMBERS,
  AS_JAVASCRIPT_NUMBERS,
  AS_PHP_ARRAYS,
  AS_PHP_NUMBERS,
  AS_PYTHON_NUMBERS,
  AS_RUBY_NUMBERS,
  BITS,
  BY_LENGTH,
  CAMEL_CASE,
  DATE_SPELLINGS,
  EMPTY_AS_NULL,
  EMPTY_LEFT_OUT,
  LOWER_CASE,
  MEMBERS_REVERSED,
  NULL_AS_EMPTY,
  NULL_AS_INFINITY,
  NULL_AS_NAN,
  NULLS_LEFT_OUT,
  NUMBERS_AS_TEXT,
  PASCAL_CASE,
  SNAKE_CASE,
  SORTED_AT_TOP,
  SORTED_PHP_ARRAYS,
  TEXT_AS_NUMBERS,
  TRIMMED,
  TRIMMED_AND_NULL,
  UPPER_CASE,
  WITH_14_DIGITS,
  WITH_17_DIGITS,
  WITH_CENTS,
  withMemberFirst,
  withMemberLast,
  withoutMember,
} from "../../texts/json-changes.js";
import type { Reshape } from "../../texts/json-shapes.js";
import {
  asciiQuotes,
  dotnetQuotes,
  gsonQuotes,
  htmlQuotes,
  type JsonStyle,
  slashQuotes,
  writeJson,
} from "../../texts/json-writer.js";
import { NUMBER_CHANGES, withNumbersOf } from "../../texts/numbers.js";
import {
  COMPACT,
  inStyle,
  ONCE,
  PHP,
  PYTHON,
  RAW_BODY,
  type Reserialise,
  SPACED,
  shaped,
} from "./body-styles.js";

const ASCII: JsonStyle = { comma: ",", colon: ":", quote: asciiQuotes };
const HTML: JsonStyle = { comma: ",", colon: ":", quote: htmlQuotes };
const GSON: JsonStyle = { comma: ",", colon: ":", quote: gsonQuotes };
const SLASHES: JsonStyle = { comma: ",", colon: ":", quote: (text) => slashQuotes(text) };
const DOTNET: JsonStyle = { comma: ",", colon: ":", quote: dotnetQuotes };
const FIX = `${ONCE} ${RAW_BODY}`;

type BodyWay = readonly [weight: 3 | 4, repeat: Reserialise];

/** Names of numbers that are tried, in the order in which they stand in the body. */
const ONE_NAME = Array.from({ length: 12 }, (_, at) => at);

function each(changes: readonly Reshape[], styles: readonly JsonStyle[], weight: 3 | 4 = 3): BodyWay[] {
  return styles.flatMap((style) => changes.map((change): BodyWay => [weight, shaped(change, style)]));
}

/** A number was written in another way, and nothing else; it is tried before what writes the whole body again. */
export const NUMBER_MISTAKES: readonly RepeatableMistake<Reserialise>[] = [
  {
    id: "body-numbers",
    title: "Numbers of the body in another spelling",
    message:
      "It matches if the body's numbers are written as another language writes them: 3 and 3.0, 1e5 and 100000, 1.5 and 1.50, or long ones with their last digits lost.",
    fix: `${FIX} Send long numbers and amounts as strings.`,
    ways: [
      [1, onlyNumbers],
      ...each([AS_DOUBLES], [COMPACT, SPACED]),
      ...each([AS_JAVA_NUMBERS], [COMPACT]),
      ...each([AS_PYTHON_NUMBERS], [COMPACT, PYTHON]),
      ...each([AS_RUBY_NUMBERS, AS_PHP_NUMBERS, AS_CSHARP_NUMBERS], [COMPACT]),
      ...each([AS_JAVASCRIPT_NUMBERS], [PHP, SLASHES, ASCII, HTML]),
      ...each([WITH_17_DIGITS, WITH_14_DIGITS], [COMPACT, PHP, SLASHES, ASCII], 4),
      ...each([WITH_CENTS], [COMPACT]),
      // The numbers of one name, or one alone, among others that stay.
      ...ONE_NAME.flatMap((at) =>
        Object.keys(NUMBER_CHANGES).map(
          (change): BodyWay => [4, (json) => json && withNumbersOf(json, at, change)],
        ),
      ),
    ],
  },
];

/** The received text with other numbers; nothing where it is not compact, as then more than its numbers differs. */
function onlyNumbers(json: Parameters<Reserialise>[0]): string | undefined {
  if (json === undefined || !/[0-9](?:[.eE]|[0-9]{15})/.test(json.text)) return undefined;
  if (inStyle(COMPACT)(json) !== json.text) return undefined;
  const changed = json.reshaped(AS_JAVASCRIPT_NUMBERS);
  return changed && writeJson(changed, COMPACT);
}

/** Something put the body's members in another order, or changed, added or left out some. */
export const SHAPE_MISTAKES: readonly RepeatableMistake<Reserialise>[] = [
  {
    id: "body-from-jsonb",
    title: "Body signed as a database stores it",
    message:
      "It matches if the body is read back from a column of PostgreSQL's jsonb or MySQL's JSON: shorter names come first, and white space is the database's.",
    fix: `Store the text that is signed and sent in a column of type text or bytea, not jsonb. ${RAW_BODY}`,
    ways: each([BY_LENGTH], [SPACED, COMPACT, PHP, PYTHON]),
  },
  {
    id: "body-nulls-left-out",
    title: "Body signed without what is null or empty",
    message:
      "It matches if members that are null, or empty, are left out, as with NON_NULL, exclude_none, omitempty or array_filter().",
    fix: FIX,
    ways: [
      ...each([NULLS_LEFT_OUT], [COMPACT, PYTHON, PHP, HTML, SPACED, ASCII]),
      ...each([NULLS_LEFT_OUT], [GSON]),
      ...each([EMPTY_LEFT_OUT], [COMPACT, PHP]),
    ],
  },
  {
    id: "body-member-added",
    title: "A member added after signing",
    message:
      "It matches without one member of the body: it was added after the body was signed, such as an id, a time or the signature itself.",
    fix: `Make the body whole before it is signed. ${ONCE}`,
    ways: [
      ...[-1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11].map(
        (at): BodyWay => [4, shaped(withoutMember(at), COMPACT)],
      ),
      [4, shaped(withoutMember(-1), PYTHON)],
    ],
  },
  {
    id: "body-member-moved",
    title: "Members in another order",
    message: "It matches with one member first or last, or with all in the opposite order.",
    fix: `${FIX} The order of the keys counts, because the bytes are signed.`,
    ways: [
      ...[0, 1, 2, 3, 4, 5, 6, 7].map((at): BodyWay => [4, shaped(withMemberLast(at), COMPACT)]),
      ...[-1, -2, 1, 2, 3, 4, 5, 6].map((at): BodyWay => [4, shaped(withMemberFirst(at), COMPACT)]),
      [4, shaped(MEMBERS_REVERSED, COMPACT)],
    ],
  },
  {
    id: "body-other-values",
    title: "Other words for true, false and null",
    message:
      "It matches if true and false are 1 and 0, or if what is null is NaN, Infinity or an empty string.",
    fix: FIX,
    ways: [
      ...each([BITS, NULL_AS_NAN, NULL_AS_INFINITY, NULL_AS_EMPTY], [COMPACT], 4),
      ...each([NULL_AS_NAN, NULL_AS_INFINITY], [PYTHON], 4),
    ],
  },
  {
    id: "body-keys-renamed",
    title: "Body signed with its keys renamed",
    message:
      "It matches if the body's keys are renamed to snake_case, camelCase or PascalCase, or to other case, as a class or a framework has them.",
    fix: FIX,
    ways: [
      ...each([SNAKE_CASE, CAMEL_CASE], [COMPACT, PYTHON, PHP]),
      ...each([PASCAL_CASE, UPPER_CASE, LOWER_CASE], [COMPACT]),
      ...each([PASCAL_CASE, CAMEL_CASE], [DOTNET], 4),
    ],
  },
  {
    id: "body-strings-trimmed",
    title: "Body signed with its strings trimmed",
    message:
      "It matches if white space at the ends of strings is trimmed, or empty strings are null, as TrimStrings and ConvertEmptyStringsToNull of Laravel do.",
    fix: FIX,
    ways: [
      ...each([TRIMMED, TRIMMED_AND_NULL, EMPTY_AS_NULL], [COMPACT, PHP]),
      ...each([TRIMMED], [PYTHON, SLASHES]),
    ],
  },
  {
    id: "body-numbers-as-text",
    title: "Body signed with numbers as text",
    message: "It matches if the body's numbers are texts in quotes, or texts that are numbers are numbers.",
    fix: FIX,
    ways: each([NUMBERS_AS_TEXT, TEXT_AS_NUMBERS], [COMPACT, PHP]),
  },
  {
    id: "body-dates",
    title: "Body signed with dates in another spelling",
    message:
      "It matches if the body's dates are spelled otherwise, such as …:00Z and …:00.000Z, or Z and +00:00: they were parsed and written again.",
    fix: FIX,
    ways: [...each(DATE_SPELLINGS, [COMPACT]), ...each(DATE_SPELLINGS.slice(0, 5), [PYTHON])],
  },
  {
    id: "body-php-arrays",
    title: "Body signed through PHP's arrays",
    message:
      "It matches if empty objects are empty lists, as after json_decode($body, true) and json_encode.",
    fix: `Verify the text as received, without json_decode: file_get_contents('php://input'), $request->getContent(). ${ONCE}`,
    ways: each([AS_PHP_ARRAYS], [COMPACT, PHP, ASCII, SLASHES]),
  },
  // After those that change the same parts without sorting them.
  {
    id: "body-top-level-sorted",
    title: "Body signed with its top level sorted",
    message:
      "It matches if the members of the top level are in alphabetical order, as after ksort() or Object.keys(payload).sort().",
    fix: `${ONCE} The order of the keys counts, because the bytes are signed.`,
    ways: [
      ...each([SORTED_AT_TOP], [PHP, COMPACT, SLASHES, ASCII, PYTHON]),
      ...each([SORTED_PHP_ARRAYS], [PHP, COMPACT, ASCII]),
    ],
  },
  {
    id: "body-through-gson",
    title: "Body signed through Gson",
    message:
      "It matches if every number is a double, 3.0 for 3, and what is null is left out, as when Gson reads an Object and writes it.",
    fix: `${FIX} In Java sign body.getBytes(StandardCharsets.UTF_8) of the text as it arrived.`,
    ways: each([AS_DOUBLES_WITHOUT_NULLS, AS_DOUBLES], [GSON]),
  },
];
