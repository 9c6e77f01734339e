// Names what changed a JSON text on its way.
import { shown } from "../../core/shown.js";
import { withDetail } from "../rows/mistake.js";
import { type JsonMember, type JsonNode, type JsonTree, jsonTree } from "../texts/json-tree.js";
import { BODY_CHANGES as CHANGES } from "./way-body-changes.js";
import type { WayChange } from "./way-changes.js";

/** In which ways two JSON texts differ, with a few of the places. */
type Differences = Map<WayChange, string[]>;

/** How one JSON text became the other one; `undefined` if one of them is no JSON, or nested too deeply. */
export function changesInJson(sent: string, received: string): WayChange[] | undefined {
  const [left, right] = [jsonTree(sent), jsonTree(received)];
  if (left === undefined || right === undefined) return undefined;
  const differences: Differences = new Map();
  compareNodes(left.root, right.root, "", differences);
  if (gapsDiffer(left, right, differences)) note(differences, CHANGES.whitespace, "");
  return [...differences].map(([change, places]) => withPlaces(change, places));
}

/** Where members were moved, added or lost, so were the gaps: then only the style is compared. */
function gapsDiffer(left: JsonTree, right: JsonTree, differences: Differences): boolean {
  const hasOtherMembers = [...differences.keys()].some(
    (change) => change !== CHANGES.escapes && change !== CHANGES.numbers && change !== CHANGES.strings,
  );
  return hasOtherMembers
    ? styleOf(left.gaps) !== styleOf(right.gaps)
    : left.gaps.join("\0") !== right.gaps.join("\0");
}

function styleOf(gaps: readonly string[]): string {
  return `${gaps.some((gap) => gap.includes("\n"))} ${gaps.some((gap) => /[ \t]/.test(gap))}`;
}

function compareNodes(sent: JsonNode, received: JsonNode, place: string, found: Differences): void {
  if (sent.kind === "object" && received.kind === "object") {
    compareMembers(sent.members, received.members, place, found);
    return;
  }
  if (sent.kind === "array" && received.kind === "array") {
    const common = Math.min(sent.items.length, received.items.length);
    for (const [index, item] of sent.items.slice(0, common).entries())
      compareNodes(item, received.items[index] as JsonNode, `${place}/${index}`, found);
    if (sent.items.length !== received.items.length) note(found, CHANGES.values, place);
    return;
  }
  const change = changeOfValue(sent, received);
  if (change) note(found, change, place);
}

function changeOfValue(sent: JsonNode, received: JsonNode): WayChange | undefined {
  if (!("raw" in sent && "raw" in received)) return CHANGES.values;
  if (sent.raw === received.raw) return undefined;
  if (sent.kind === "number" && received.kind === "number")
    return Number(sent.raw) === Number(received.raw) ? CHANGES.numbers : CHANGES.values;
  if (isEmpty(sent) && isEmpty(received)) return CHANGES.nulls;
  if (sent.kind !== "string" || received.kind !== "string") return CHANGES.values;
  const [left, right] = [JSON.parse(sent.raw) as string, JSON.parse(received.raw) as string];
  if (left === right) return CHANGES.escapes;
  return left.trim() === right.trim() ? CHANGES.strings : CHANGES.values;
}

function compareMembers(
  sent: readonly JsonMember[],
  received: readonly JsonMember[],
  place: string,
  found: Differences,
): void {
  const [mine, others] = [lastOfEach(sent), lastOfEach(received)];
  if (mine.size < sent.length !== others.size < received.length) note(found, CHANGES.duplicates, place);
  const lost = [...mine.values()].filter(({ name }) => !others.has(name));
  const added = [...others.values()].filter(({ name }) => !mine.has(name));
  compareOrder([...mine.keys()], [...others.keys()], place, found);
  for (const member of mine.values()) {
    const other = others.get(member.name);
    if (other === undefined) continue;
    if (member.rawName !== other.rawName) note(found, CHANGES.escapes, place);
    compareNodes(member.value, other.value, `${place}/${member.name}`, found);
  }
  pairRenamed(lost, added, place, found);
}

/** A member that stands twice counts as its last one, as most parsers have it. */
function lastOfEach(members: readonly JsonMember[]): Map<string, JsonMember> {
  return new Map(members.map((member) => [member.name, member]));
}

function compareOrder(mine: string[], others: string[], place: string, found: Differences): void {
  const [known, own] = [new Set(others), new Set(mine)];
  const [left, right] = [mine.filter((name) => known.has(name)), others.filter((name) => own.has(name))];
  if (left.some((name, index) => name !== right[index])) note(found, CHANGES.order, place);
}

/** Of what is on one side only: names that differ in their spelling, members without a value, and the rest. */
function pairRenamed(
  lost: readonly JsonMember[],
  added: readonly JsonMember[],
  place: string,
  found: Differences,
): void {
  const byPlainName = new Map(added.map((member) => [plainName(member.name), member]));
  for (const member of lost) {
    const other = byPlainName.get(plainName(member.name));
    if (other) {
      byPlainName.delete(plainName(member.name));
      note(found, CHANGES.names, `${place}/${member.name}`);
      compareNodes(member.value, other.value, `${place}/${member.name}`, found);
    } else note(found, isEmpty(member.value) ? CHANGES.nulls : CHANGES.values, `${place}/${member.name}`);
  }
  for (const { name, value } of byPlainName.values())
    note(found, isEmpty(value) ? CHANGES.nulls : CHANGES.values, `${place}/${name}`);
}

function plainName(name: string): string {
  return name.replace(/[-_]/g, "").toLowerCase();
}

function isEmpty(node: JsonNode): boolean {
  if (node.kind === "array") return node.items.length === 0;
  if (node.kind === "object") return node.members.length === 0;
  return node.raw === "null" || node.raw === '""';
}

const SHOWN_PLACES = 3;

function note(found: Differences, change: WayChange, place: string): void {
  const places = found.get(change);
  if (places === undefined) found.set(change, [place]);
  else if (places.length <= SHOWN_PLACES) places.push(place);
}

/** The names of members may be shown, their values may not. */
function withPlaces(change: WayChange, places: readonly string[]): WayChange {
  if (change === CHANGES.whitespace) return change;
  const few = places.slice(0, SHOWN_PLACES).map((place) => (place === "" ? "the top level" : shown(place)));
  return withDetail(change, `At ${few.join(", ")}${places.length > SHOWN_PLACES ? " and elsewhere" : ""}.`);
}
