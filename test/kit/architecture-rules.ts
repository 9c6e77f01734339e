import { readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path/posix";
import { importsOf, type ModuleImport } from "./module-imports.js";

/** A source file: its path from the repository's root, and its text. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

/** What each workspace besides the root may import by name. */
export type PackageRights = Readonly<Record<"service" | "cli", readonly string[]>>;

/**
 * Which rooms of `src/` a room may import, beside itself (ARCHITECTURE.md). A folder of an engine is a room of its own;
 * `index` is the entry `hookproof`, `node` the entry for what needs Node.
 */
export const ROOMS: Readonly<Record<string, readonly string[]>> = {
  core: [],
  jwt: ["core"],
  http: ["core"],
  sqlite: ["core"],
  postgres: ["core"],
  events: ["core"],
  schemes: ["core"],
  "schemes/access-governance": ["core", "jwt", "schemes"],
  "schemes/standard-webhooks": ["core", "schemes", "jwt"],
  "schemes/http-signature": ["core", "jwt", "schemes"],
  "schemes/security-event-token": ["core", "jwt", "events", "schemes"],
  sender: ["core", "http", "events", "schemes"],
  replay: ["core", "sqlite", "postgres"],
  receiver: ["core", "http", "replay", "schemes"],
  jwks: ["core", "jwt", "http"],
  outbox: ["core", "events", "sender"],
  "outbox/memory": ["core", "outbox"],
  "outbox/sqlite": ["core", "outbox", "sqlite"],
  "outbox/postgres": ["core", "outbox", "postgres"],
  polling: ["core", "http", "schemes", "sender", "receiver", "replay", "outbox"],
  "key-store": ["core", "jwt", "jwks"],
  observe: ["core", "sender"],
  alerts: ["core"],
  "doctor/texts": ["core"],
  "doctor/rows": [],
  "doctor/codes": ["core", "schemes/access-governance"],
  "doctor/diagnose": [
    "core",
    "jwt",
    "jwks",
    "doctor/codes",
    "doctor/compare",
    "doctor/rows",
    "doctor/schemes",
    "doctor/texts",
    "schemes/access-governance",
  ],
  "doctor/compare": ["core", "doctor/rows", "doctor/texts", "schemes/access-governance"],
  "doctor/probes": [
    "core",
    "jwt",
    "http",
    "schemes",
    "sender",
    "doctor/diagnose",
    "doctor/rows",
    "doctor/schemes",
    "doctor/texts",
    "schemes/access-governance",
  ],
  "doctor/schemes": [
    "core",
    "jwt",
    "jwks",
    "events",
    "schemes",
    "doctor/diagnose",
    "doctor/probes",
    "doctor/rows",
    "doctor/texts",
    "schemes/access-governance",
    "schemes/standard-webhooks",
    "schemes/http-signature",
    "schemes/security-event-token",
  ],
  testing: ["core", "http", "schemes", "sender", "receiver", "replay", "outbox", "schemes/access-governance"],
  node: ["core", "http", "sqlite", "receiver", "jwks", "key-store", "observe"],
  index: ["core", "jwt", "http", "events", "sender", "schemes/access-governance", "schemes"],
};

/**
 * What the doctor takes of the library's insides: files, by their room. Everything else it has to do without, and the
 * library does without the doctor.
 */
export const DOCTOR_TAKES: Readonly<Record<string, readonly string[]>> = {
  core: [
    ...["bytes", "clock", "errors", "event", "hash-portable", "headers", "json", "options", "protocol"],
    ...["shown"],
  ],
  jwt: ["algorithms", "key", "sign-token", "token", "verify"],
  jwks: ["key-set", "key-set-shape"],
  http: ["transport"],
  events: ["security-events"],
  sender: ["send-many", "sign-request"],
  schemes: ["classification", "scheme"],
  "schemes/access-governance": ["claims", "likely-causes", "listener-url", "protocol", "secret"],
  "schemes/standard-webhooks": ["key", "sign"],
  "schemes/http-signature": ["sign", "signature-fields", "verify"],
  "schemes/security-event-token": ["sign"],
};

/** The one file of a room that may name the engines of the room. */
const DOORS: Readonly<Record<string, readonly string[]>> = {
  "src/schemes/default-verifier.ts": ["schemes/access-governance"],
  "src/outbox/index.ts": ["outbox/memory"],
};

/** Where a package of the outside may be imported. */
const PACKAGES: Readonly<Record<string, (path: string) => boolean>> = {
  uuid: (path) => path === "src/core/hash-portable.ts",
  "@noble/hashes": (path) => path.startsWith("src/core/"),
  "structured-headers": (path) => /^src\/(?:doctor\/)?schemes\/http-signature/.test(path),
  jose: (path) => /^src\/(?:jwt|jwks)\//.test(path),
};

const FORBIDDEN_NAME = /^(?:utils?|helpers?|types?|common|misc)\b/;
const KEBAB_CASE = /^[a-z0-9]+(?:-[a-z0-9]+)*(?:\.d)?\.(?:tsx?|js)$/;
const MAX_LINES = 400;
const PAGE = "service/inspector/";

/** Types that openapi-typescript writes from `service/openapi.yaml`. */
const GENERATED = "service/src/api/openapi.ts";

/** Every rule a file breaks, in words; empty when it keeps them all. */
export function violationsOf(file: SourceFile, rights: PackageRights): string[] {
  const { path, text } = file;
  const workspace = path.split("/")[0] as "src" | "service" | "cli";
  const isPage = path.startsWith(PAGE);
  const broken = importsOf(text).flatMap((one) => {
    if (workspace === "src") return libraryImport(path, one);
    return isPage ? pageImport(path, one) : workspaceImport(path, one, rights[workspace]);
  });
  if (isPage && /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(/i.test(text))
    broken.push("makes elements of text");
  const name = path.split("/").at(-1) ?? "";
  if (FORBIDDEN_NAME.test(name) || !KEBAB_CASE.test(name)) broken.push("is not named after its job");
  if (path !== GENERATED && text.split("\n").length - 1 > MAX_LINES)
    broken.push(`has more than ${MAX_LINES} lines`);
  if (workspace === "src" && /\bprocess\s*\.\s*env\b|\bprocess\s*\[/.test(text))
    broken.push("reads process.env");
  return broken.map((rule) => `${path} ${rule}`);
}

function libraryImport(path: string, { from, isLate }: ModuleImport): string[] {
  // Node remembers a file that it could not read, as with too many open ones, for as long as the process lives (B6).
  if (isLate && /^[.#]/.test(from) && !isDoctor(path)) return [`imports ${from} late`];
  if (from.startsWith("#"))
    return ["#hash", "#signature", "#transport"].includes(from) ? [] : [`imports ${from}`];
  if (from.startsWith("node:")) return mayUseNode(path) ? [] : [`imports ${from}`];
  if (from.startsWith(".")) return roomImport(path, from);
  const name = /^(?:@[^/]+\/)?[^/]+/.exec(from)?.[0] ?? from;
  return PACKAGES[name]?.(path) ? [] : [`imports the package ${from}`];
}

/** What needs Node: the one list is `exclude` of tsconfig.json, by which the rest is compiled without Node's types. */
const NODE_ONLY: readonly string[] = JSON.parse(
  readFileSync(new URL("../../tsconfig.json", import.meta.url), "utf8"),
).exclude;

function mayUseNode(path: string): boolean {
  return NODE_ONLY.some((folder) => new RegExp(`^${folder.replaceAll("*", "[a-z]+")}/`).test(path));
}

function roomImport(path: string, from: string): string[] {
  const target = normalize(join(dirname(path), from)).replace(/\.js$/, ".ts");
  const room = roomOf(path);
  const other = roomOf(target);
  if (isDoctor(target) && !isDoctor(path)) return [`imports ${target}, which no file of the library needs`];
  if (
    isDoctor(path) &&
    !isDoctor(target) &&
    !DOCTOR_TAKES[other]?.some((file) => target === `src/${other}/${file}.ts`)
  )
    return [`imports ${target}, which the doctor has to do without`];
  if (mayUseNode(target) && !mayUseNode(path) && !NODE_ONLY.includes(path))
    return [`imports ${target}, which needs Node`];
  if (other !== "index" && (room === other || ROOMS[room]?.includes(other) || DOORS[path]?.includes(other)))
    return [];
  return [`imports ${target}`];
}

function isDoctor(path: string): boolean {
  return path.startsWith("src/doctor/");
}

/** The files that a file of `src/` imports, types included. */
export function filesImportedBy({ path, text }: SourceFile): string[] {
  return importsOf(text)
    .filter(({ from }) => from.startsWith("."))
    .map(({ from }) => normalize(join(dirname(path), from)).replace(/\.js$/, ".ts"));
}

/** The other rooms that a file of `src/` imports from, types included. */
export function roomsImportedBy(file: SourceFile): string[] {
  return filesImportedBy(file)
    .map(roomOf)
    .filter((room) => room !== roomOf(file.path));
}

/** `src/jwt/token.ts` lies in `jwt`; a file of `src/` itself is a room of its own, and so is an engine's folder. */
export function roomOf(path: string): string {
  const [first = "", second = ""] = path.replace(/^src\//, "").split("/");
  const engine = `${first}/${second}`;
  return Object.hasOwn(ROOMS, engine) ? engine : first.replace(/\.ts$/, "");
}

/** The inspector's page runs in a browser: it is its own files, Preact, and what it shares with the server. */
function pageImport(path: string, { from }: ModuleImport): string[] {
  if (/^preact(?:\/|$)/.test(from)) return [];
  const target = from.startsWith(".") ? normalize(join(dirname(path), from)) : from;
  return target.startsWith(PAGE) || /^service\/src\/(?:inspector|outbox)\/contract\.js$/.test(target)
    ? []
    : [`imports ${target}`];
}

function workspaceImport(path: string, { from }: ModuleImport, allowed: readonly string[]): string[] {
  if (from.startsWith("node:")) return [];
  if (from.startsWith(".")) {
    const target = normalize(join(dirname(path), from));
    const home = path.split("/").slice(0, 1).join("/");
    return target.startsWith(`${home}/`) ? [] : [`imports ${target}, a file of another package`];
  }
  const isOurs = from === "hookproof" || from.startsWith("hookproof/");
  const name = isOurs ? from : (/^(?:@[^/]+\/)?[^/]+/.exec(from)?.[0] ?? from);
  return allowed.includes(name) ? [] : [`imports ${from}`];
}
