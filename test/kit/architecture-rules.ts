import { dirname, join, normalize } from "node:path/posix";
import { importsOf, type ModuleImport } from "./module-imports.js";

/** A source file: its path from the repository's root, and its text. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

/** What each workspace besides the root may import by name. */
export type PackageRights = Readonly<Record<"service" | "cli", readonly string[]>>;

const LEVEL_0 = ["errors", "primitives", "protocol", "http"];
const LEVEL_1 = [...LEVEL_0, "hmac", "jwt"];

/** Which rooms of `src/` a room may import, beside itself (ARCHITECTURE.md). */
const ROOMS: Readonly<Record<string, readonly string[]>> = {
  errors: [],
  primitives: ["errors"],
  protocol: ["errors", "primitives"],
  http: ["errors", "primitives"],
  hmac: LEVEL_0,
  jwt: LEVEL_0,
  jwks: LEVEL_0,
  receiver: LEVEL_1,
  sender: LEVEL_1,
  diagnose: [...LEVEL_1, "jwks"],
  outbox: [...LEVEL_1, "sender"],
  probes: [...LEVEL_1, "sender", "diagnose"],
  node: [...LEVEL_1, "jwks", "receiver", "sender", "diagnose", "outbox", "probes"],
  testing: [...LEVEL_1, "jwks", "receiver", "sender", "diagnose", "outbox", "probes"],
  index: [...LEVEL_1, "sender"],
};

/** Single files a room may import beyond its rooms; `type` where nothing of them may be left at run time. */
const FILES: Readonly<Record<string, Readonly<Record<string, "value" | "type">>>> = {
  http: { "src/protocol/headers.ts": "type" },
  jwks: { "src/jwt/key.ts": "value", "src/jwt/key-resolver.ts": "type" },
};

/** Where a package of the outside may be imported. */
const PACKAGES: Readonly<Record<string, (path: string) => boolean>> = {
  uuid: (path) => path === "src/protocol/event-id.ts",
  "@noble/hashes": (path) => path.startsWith("src/primitives/"),
  jose: (path) => /^src\/(?:jwt|jwks)\//.test(path),
};

const FORBIDDEN_NAME = /^(?:utils?|helpers?|types?|common|misc)\b/;
const KEBAB_CASE = /^[a-z0-9]+(?:-[a-z0-9]+)*(?:\.d)?\.tsx?$/;
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

function libraryImport(path: string, { from, typeOnly }: ModuleImport): string[] {
  if (from.startsWith("#")) return from === "#hash" || from === "#transport" ? [] : [`imports ${from}`];
  if (from.startsWith("node:")) return mayUseNode(path) ? [] : [`imports ${from}`];
  if (from.startsWith(".")) return roomImport(path, from, typeOnly);
  const name = /^(?:@[^/]+\/)?[^/]+/.exec(from)?.[0] ?? from;
  return PACKAGES[name]?.(path) ? [] : [`imports the package ${from}`];
}

function mayUseNode(path: string): boolean {
  return /^src\/node\//.test(path) || /^src\/(?:primitives|http)\/[a-z-]+-node\.ts$/.test(path);
}

function roomImport(path: string, from: string, typeOnly: boolean): string[] {
  const target = normalize(join(dirname(path), from)).replace(/\.js$/, ".ts");
  const room = roomOf(path);
  const other = roomOf(target);
  if (target.endsWith("-node.ts") && !mayUseNode(path))
    return [`imports ${target}, a Node variant, by its path`];
  if (other !== "index" && (room === other || ROOMS[room]?.includes(other))) return [];
  const file = FILES[room]?.[target];
  if (file === "value" || (file === "type" && typeOnly)) return [];
  return [`imports ${target}${file === "type" ? " for more than a type" : ""}`];
}

/** `src/hmac/sign.ts` lies in `hmac`; a file of `src/` itself is a room of its own. */
function roomOf(path: string): string {
  return (
    path
      .replace(/^src\//, "")
      .split("/")[0]
      ?.replace(/\.ts$/, "") ?? ""
  );
}

/** The inspector's page runs in a browser: it is its own files, Preact, and what it shares with the server. */
function pageImport(path: string, { from }: ModuleImport): string[] {
  if (/^preact(?:\/|$)/.test(from)) return [];
  const target = from.startsWith(".") ? normalize(join(dirname(path), from)) : from;
  return target.startsWith(PAGE) || target === "service/src/inspector/contract.js"
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
