// Makes the event of `--data`, `--set` and `--event-id`.
import { isUtf8 } from "node:buffer";
import { existsSync } from "node:fs";
import { createEvent, HookproofError, type WebhookEvent } from "hookproof";
import type { Context, Flag } from "../command.js";
import { CliError, EXIT, usageError } from "../failure.js";
import { readUnmarked } from "../files/files.js";
import { jsonMistake } from "../input/json-mistake.js";
import { textOf } from "../input/text.js";
import { hasPipedInput, type Io } from "../io.js";
import { DoubledMember, readExact, writeExact } from "./exact-json.js";

/** The flags of a command that signs one event. */
export const EVENT_FLAGS = {
  data: {
    type: "string",
    alias: "d",
    value: "<json|@file|->",
    describe: "the body: JSON text, a file, or standard input",
    completes: "file",
  },
  "event-id": { type: "string", value: "<id>", describe: "an id of your own: UUID v4, or see --id-form" },
  "id-form": {
    type: "string",
    choices: ["uuid", "own"],
    describe: "own: --event-id may be 1 to 256 visible ASCII characters, for another scheme",
  },
  timestamp: { type: "string", value: "<unix|+10m|-6m>", describe: "sign as if it were that time" },
} as const satisfies Record<string, Flag>;

/**
 * The value of `--data`, or `otherwise`, or what is piped to the command; refused if there is none of them, or if
 * standard input is used twice.
 */
export function requiredData({ args, io }: Context, example: string, otherwise?: string): string {
  const isFree = !args.texts("secret-file").includes("-");
  const given = args.text("data");
  const data = (given === "@-" ? "-" : given) ?? otherwise ?? (isFree && hasPipedInput(io) ? "-" : undefined);
  if (data === undefined) throw usageError("--data is missing.", example);
  if (data === "-" && args.texts("secret-file").includes("-"))
    throw usageError("Only one of --data and --secret-file can be standard input.");
  return data;
}

/** A text of the command line, which was UTF-8. */
export async function readable(text: string, name: string): Promise<string> {
  if (text.includes("\uFFFD")) (await import("../input/given-text.js")).requireReadable(text, name);
  return text;
}

/** The payload of `--data`: `@file` and `-` are read as bytes, without a byte order mark; anything else is the JSON text itself. */
export async function payloadOf(io: Io, data: string): Promise<string | Uint8Array> {
  if (data !== "-" && !data.startsWith("@")) return readable(data, "--data");
  const bytes = await readUnmarked(io, data.replace(/^@/, ""));
  if (!isUtf8(bytes)) textOf(bytes, data.slice(1) || "Standard input"); // which refuses it by its name
  return bytes;
}

const NEW_ID = "Leave it out for a new one.";

/** The event of `--data` and `--event-id`; what is wrong with them is said in the words of a command line. */
export function eventOf(
  { args }: Pick<Context, "args">,
  payload: string | Uint8Array,
  data: string,
): WebhookEvent {
  const eventId = args.text("event-id");
  const idForm = args.text("id-form") as "uuid" | "own" | undefined;
  try {
    return createEvent(payload, { eventId, idForm });
  } catch (error) {
    if (!(error instanceof HookproofError)) throw error;
    if (error.code === "EVENT_ID_INVALID")
      throw new CliError(
        EXIT.usage,
        error.code,
        idForm === "own"
          ? `--event-id must have 1 to 256 visible ASCII characters, unlike ${JSON.stringify(eventId?.slice(0, 300))}.`
          : `--event-id must be a UUID of version 4, not ${JSON.stringify(eventId)}.`,
        {
          hint:
            idForm === "own" ? NEW_ID : `${NEW_ID} Other schemes take ids of your own with --id-form own.`,
        },
      );
    if (error.code !== "PAYLOAD_NOT_JSON") throw error;
    const text = typeof payload === "string" ? payload : new TextDecoder().decode(payload);
    const place = jsonMistake(text);
    throw new CliError(
      EXIT.usage,
      error.code,
      `The data is not JSON${place === undefined ? "" : `: ${place}`}.`,
      {
        hint: existsSync(data)
          ? `Did you mean --data @${data}?`
          : isOfShell(data)
            ? `${OF_SHELL}: give the data as a file, --data @file.json, or on standard input, --data -.`
            : /[\u201c\u201d\u201e\u2018\u2019]/.test(data)
              ? 'JSON has straight quotes, "; a text program has written others in their place, such as \u201c and \u201d.'
              : "Such as --data '{\"a\":1}', or --data @file.json; a text has quotes of its own: --data '\"text\"'",
      },
    );
  }
}

const OF_SHELL = "Your shell has changed the quotes, as PowerShell and cmd.exe do";

/** Whether a text is JSON but for its quotes: taken away, escaped, or single ones that a shell should have taken. */
function isOfShell(data: string): boolean {
  if (/^'.*'$/s.test(data) && /^'\s*[{["]/.test(data)) return true;
  if (/^\s*[{[]\s*\\"/.test(data)) return true;
  // A name without quotes, and no quote behind it: {type:user.offboarded}.
  return !data.includes('"') && /^\s*[{[]\s*[A-Za-z_][\w.-]*\s*[:,\]]/.test(data);
}

/**
 * A JSON body with members set: `a.b=1` sets the member b of a. The body is serialised again, with the numbers as they are
 * written.
 */
export function setMembers(body: Uint8Array | string, assignments: readonly string[]): string {
  let root: unknown;
  try {
    const text = typeof body === "string" ? body : new TextDecoder("utf-8", { fatal: true }).decode(body);
    root = readExact(text);
  } catch (error) {
    if (error instanceof DoubledMember)
      throw usageError("--set would lose a member: the data has one that stands twice in an object.");
    throw usageError("--set needs data that is JSON.");
  }
  if (!isContainer(root)) throw usageError("--set needs data that is an object or a list.");
  for (const assignment of assignments) assign(root, assignment);
  try {
    return writeExact(root);
  } catch {
    throw usageError("--set cannot write the data again: it is nested too deeply.");
  }
}

type Container = Record<string, unknown> | unknown[];

function assign(root: Container, assignment: string): void {
  const [, path, text = ""] = /^([^=]+)=(.*)$/s.exec(assignment) ?? [];
  const names = path?.split(".") ?? [];
  const last = names.pop();
  if (last === undefined || last === "" || names.includes(""))
    throw usageError(`--set must look like a.b=1, not ${JSON.stringify(assignment)}.`);
  // cmd.exe leaves single quotes where they are, and PowerShell 5 takes double ones away.
  if (/^'.*'$/s.test(assignment) || /^\[?\s*[{[]\s*(?:\\"|[A-Za-z_][\w.-]*\s*:)/.test(text))
    throw usageError(`--set: ${JSON.stringify(assignment)} has the wrong quotes.`, `${OF_SHELL}.`);
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
    return readExact(text);
  } catch (error) {
    if (error instanceof DoubledMember)
      throw usageError("--set would lose a member: one stands twice in an object.");
    return text;
  }
}

function isContainer(value: unknown): value is Container {
  return typeof value === "object" && value !== null;
}

/** Events to try an automation with, by their type. The service prescribes no type: a body is any JSON. */
export const EXAMPLE_EVENTS: Readonly<Record<string, object>> = {
  "user.onboarded": {
    type: "user.onboarded",
    userId: "u_123",
    email: "mara@example.com",
    department: "Support",
    startsAt: "2026-02-01",
  },
  "user.moved": { type: "user.moved", userId: "u_123", from: "Support", to: "Sales" },
  "user.offboarded": { type: "user.offboarded", userId: "u_123" },
  "access.requested": { type: "access.requested", userId: "u_123", appId: "app_7", role: "viewer" },
  "access.revoked": { type: "access.revoked", userId: "u_123", appId: "app_7", reason: "project ended" },
  "device.lost": { type: "device.lost", userId: "u_123", deviceId: "dev_42" },
  // The payload of a security event token.
  "session.revoked": {
    events: {
      "https://schemas.openid.net/secevent/caep/event-type/session-revoked": {
        event_timestamp: 1_767_225_600,
        initiating_entity: "policy",
      },
    },
    sub_id: { format: "email", email: "mara@example.com" },
  },
};
