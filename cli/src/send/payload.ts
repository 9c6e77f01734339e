import type { Context, Flag } from "../command.js";
import { usageError } from "../failure.js";
import { readBytes } from "../files.js";
import { type Io, readStdin } from "../io.js";

/** The flags of a command that signs one event. */
export const EVENT_FLAGS = {
  data: {
    type: "string",
    alias: "d",
    value: "<json|@file|->",
    describe: "the body: JSON text, a file, or standard input",
    completes: "file",
  },
  "event-id": { type: "string", value: "<uuid>", describe: "an id of your own (UUID v4)" },
  timestamp: { type: "string", value: "<unix|+10m|-6m>", describe: "sign as if it were that time" },
} as const satisfies Record<string, Flag>;

/** The value of `--data`, or `otherwise`; refused if there is neither, or if standard input is used twice. */
export function requiredData({ args }: Context, example: string, otherwise?: string): string {
  const data = args.text("data") ?? otherwise;
  if (data === undefined) throw usageError("--data is missing.", example);
  if (data === "-" && args.texts("secret-file").includes("-"))
    throw usageError("Only one of --data and --secret-file can be standard input.");
  return data;
}

/** The payload of `--data`: `@file` and `-` are read as bytes, anything else is the JSON text itself. */
export async function payloadOf(io: Io, data: string): Promise<string | Uint8Array> {
  if (data === "-") return readStdin(io);
  return data.startsWith("@") ? readBytes(data.slice(1)) : data;
}

/** A JSON body with members set: `a.b=1` sets the member b of a. The body is serialised anew. */
export function setMembers(body: Uint8Array | string, assignments: readonly string[]): string {
  const text = typeof body === "string" ? body : new TextDecoder().decode(body);
  let root: unknown;
  try {
    root = JSON.parse(text);
  } catch {
    throw usageError("--set needs data that is JSON.");
  }
  if (!isContainer(root)) throw usageError("--set needs data that is an object or a list.");
  for (const assignment of assignments) assign(root, assignment);
  return JSON.stringify(root);
}

type Container = Record<string, unknown> | unknown[];

function assign(root: Container, assignment: string): void {
  const [, path, text = ""] = /^([^=]+)=(.*)$/s.exec(assignment) ?? [];
  const names = path?.split(".") ?? [];
  const last = names.pop();
  if (last === undefined || last === "" || names.includes(""))
    throw usageError(`--set must look like a.b=1, not ${JSON.stringify(assignment)}.`);
  let place = root;
  for (const name of names) {
    const inner = Object.hasOwn(place, name)
      ? (place as Record<string, unknown>)[name]
      : define(place, name, {});
    if (!isContainer(inner)) throw usageError(`--set ${path}: ${name} is neither an object nor a list.`);
    place = inner;
  }
  define(place, last, jsonOrText(text));
}

/** Sets an own member, whatever its name; `__proto__` must not reach the prototype. */
function define(place: Container, name: string, value: unknown): unknown {
  if (Array.isArray(place) && !(/^(?:0|[1-9][0-9]*)$/.test(name) && Number(name) <= place.length))
    throw usageError(`--set: ${JSON.stringify(name)} is not a place in a list of ${place.length}.`);
  Object.defineProperty(place, name, { value, writable: true, enumerable: true, configurable: true });
  return value;
}

/** JSON where it is JSON, a text otherwise. */
function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function isContainer(value: unknown): value is Container {
  return typeof value === "object" && value !== null;
}
