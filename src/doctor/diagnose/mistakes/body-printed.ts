// Rows of a payload that was signed as a function prints it for people, or with its members put together.
import type { RepeatableMistake } from "../../rows/mistake.js";
import type { ReceivedJson } from "../../texts/json-shapes.js";
import { ONCE, type Reserialise } from "./body-styles.js";

/** Deeper values are not printed: a text of 64 KiB could become a thousand times as long. */
const MAX_DEPTH = 16;

/** A way to print the members of an object; nothing where the body is none. */
function printed(print: (payload: Readonly<Record<string, unknown>>) => string): Reserialise {
  return (json: ReceivedJson | undefined) => {
    if (json === undefined || !/^\s*\{/.test(json.text)) return undefined;
    try {
      const payload = JSON.parse(json.text) as Readonly<Record<string, unknown>>;
      return isDeeper(payload, MAX_DEPTH) ? undefined : print(payload);
    } catch {
      return undefined;
    }
  };
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((one) => isDeeper(one, levels - 1));
}

const isList = (value: unknown): value is object => typeof value === "object" && value !== null;

/** `print_r($payload, true)` of PHP. */
function printR(value: unknown, pad = ""): string {
  if (!isList(value)) return value === true ? "1" : value === false || value === null ? "" : String(value);
  const members = Object.entries(value).map(
    ([name, one]) => `${pad}    [${name}] => ${printR(one, `${pad}        `)}\n`,
  );
  return `Array\n${pad}(\n${members.join("")}${pad})\n`;
}

/** `var_export($payload, true)` of PHP. */
function varExport(value: unknown, pad = ""): string {
  if (value === null) return "NULL";
  if (typeof value === "string") return `'${value.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
  if (!isList(value)) return String(value);
  const isArray = Array.isArray(value);
  const members = Object.entries(value).map(([name, one]) => {
    const key = isArray ? name : varExport(name);
    const inner = `${pad}  `;
    return `${inner}${key} => ${isList(one) ? `\n${inner}` : ""}${varExport(one, inner)},\n`;
  });
  return `array (\n${members.join("")}${pad})`;
}

/** `querystring.stringify(payload)` of Node, in which objects are empty. */
function queryString(payload: Readonly<Record<string, unknown>>): string {
  const one = (value: unknown) => (isList(value) || value === null ? "" : encodeURIComponent(String(value)));
  return Object.entries(payload)
    .flatMap(([name, value]) =>
      (Array.isArray(value) ? value : [value]).map((item) => `${encodeURIComponent(name)}=${one(item)}`),
    )
    .join("&");
}

const scalars = (payload: object) => Object.values(payload).filter((value) => !isList(value));

/** A payload that was printed, or put together. */
export const PRINTED_MISTAKES: readonly RepeatableMistake<Reserialise>[] = [
  {
    id: "body-printed",
    title: "A printed payload signed",
    message: "It matches with the payload as print_r, var_export or querystring.stringify prints it.",
    fix: `${ONCE} In PHP $body = json_encode($payload).`,
    ways: [
      [4, printed((payload) => printR(payload))],
      [4, printed((payload) => varExport(payload))],
      [4, printed(queryString)],
    ],
  },
  {
    id: "body-members-joined",
    title: "The members' values joined",
    message: "It matches with the values of the body's members put together, with or without their names.",
    fix: `${ONCE} The values alone leave open where one ends, and where another begins.`,
    ways: [
      [4, printed((payload) => Object.values(payload).map(String).join(""))],
      [4, printed((payload) => Object.entries(payload).flat().join(","))],
      [4, printed((payload) => scalars(payload).join(""))],
      [4, printed((payload) => scalars(payload).join("."))],
      [4, printed((payload) => Object.values(payload).map(String).join("|"))],
    ],
  },
];
