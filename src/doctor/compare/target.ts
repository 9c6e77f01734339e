// Names what was changed in method, host, path and query on the way.
import { shown } from "../../core/shown.js";
import { withDetail } from "../rows/mistake.js";
import { TARGET_CHANGES as CHANGES, type WayChange } from "./way-changes.js";

/** Where a request goes, as far as a capture says it. */
interface Target {
  readonly method: string | undefined;
  /** The whole URL, or path and query. */
  readonly url: string | undefined;
  /** The value of the header Host. */
  readonly host: string | undefined;
}

/** What happened to method, host, path and query; what is not known on both sides is not compared. */
export function changesInTarget(sent: Target, received: Target): WayChange[] {
  const found: WayChange[] = [];
  if (sent.method !== undefined && received.method !== undefined && sent.method !== received.method)
    found.push(withDetail(CHANGES.method, `${shown(sent.method, 20)} became ${shown(received.method, 20)}.`));
  const [from, to] = [partsOf(sent), partsOf(received)];
  if (from.host !== undefined && to.host !== undefined && from.host !== to.host)
    found.push(withDetail(CHANGES.host, `${shown(from.host)} became ${shown(to.host)}.`));
  if (from.path === undefined || to.path === undefined) return found;
  if (from.path !== to.path) found.push(pathChange(from.path, to.path));
  if (from.query !== to.query) found.push(queryChange(from.query, to.query));
  return found;
}

interface TargetParts {
  readonly host: string | undefined;
  readonly path: string | undefined;
  readonly query: string | undefined;
}

/** A host's default port may be written or not; a raw request does not say its scheme. */
function partsOf({ url, host }: Target): TargetParts {
  const [, authority, rest] = /^https?:\/\/([^/?#]*)([^#]*)/i.exec(url ?? "") ?? [];
  const named = (authority ?? host)?.toLowerCase().replace(/:(?:80|443)$/, "");
  if (url === undefined) return { host: named, path: undefined, query: undefined };
  const target = rest ?? url.replace(/#.*$/s, "");
  const at = target.indexOf("?");
  const path = at < 0 ? target : target.slice(0, at);
  return { host: named, path: path === "" ? "/" : path, query: at < 0 ? undefined : target.slice(at + 1) };
}

function pathChange(sent: string, received: string): WayChange {
  return withDetail(pathChangeOf(sent, received), `${shown(sent, 120)} became ${shown(received, 120)}.`);
}

function pathChangeOf(sent: string, received: string): WayChange {
  if (`${sent}/` === received || sent === `${received}/`) return CHANGES.pathSlash;
  if (normalised(sent) === normalised(received)) return CHANGES.pathNormalised;
  // "/" says nothing about where the rest went.
  if (received !== "/" && sent.endsWith(received)) return CHANGES.pathPrefixLost;
  if (sent !== "/" && received.endsWith(sent)) return CHANGES.pathPrefixAdded;
  return CHANGES.path;
}

function normalised(path: string): string {
  const parts: string[] = [];
  for (const part of decoded(path).split("/"))
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  return parts.join("/");
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** The values of a query may be secret, its parameters' names are not. */
function queryChange(sent: string | undefined, received: string | undefined): WayChange {
  const [mine, others] = [namesOf(sent), namesOf(received)];
  const lost = mine.find((name) => !others.includes(name));
  const added = others.find((name) => !mine.includes(name));
  const detail =
    added !== undefined
      ? `It has gained the parameter ${shown(added, 40)}.`
      : lost !== undefined
        ? `It has lost the parameter ${shown(lost, 40)}.`
        : "Its parameters have another order, another spelling or other values.";
  return withDetail(CHANGES.query, detail);
}

/** More parameters are not looked at. */
const MAX_PARAMETERS = 100;

function namesOf(query: string | undefined): string[] {
  if (query === undefined || query === "") return [];
  return query.split("&", MAX_PARAMETERS).map((one) => one.slice(0, 200).replace(/=.*$/s, ""));
}
