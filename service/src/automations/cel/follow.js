// Follows an evaluation part by part: what each part of an expression gave, and which one failed on what.
import { CelScalar, celFunc } from "@bufbuild/cel";
import { shownValue } from "./shown-value.js";
import { partOf, partsAt, qualifiedName, withParts } from "./tree.js";

/** Stands around each part that is followed. */
const SEEN = "@seen";
/** The most parts that are told of one expression, and the longest text of one. */
const MAX_PARTS = 50;
const MAX_TEXT = 200;
/** A text as it is written; what stands in it is no name. */
const TEXT = /"(?:[^"\\]|\\.)*(?:"|\\?$)/gs;
/** Names that macros are expanded to, which nobody has written. */
const EXPANDED = /@(?:result|none|entry|entries|merged|not_strictly_false)\b/;
const { DYN, INT } = CelScalar;

let seen = new Map();

/** The function that notes what a part gave, to be given to the environment. */
export const noting = celFunc(SEEN, [INT, DYN], DYN, (id, value) => {
  const times = (seen.get(id)?.times ?? 0) + 1;
  // The last one stands last: an evaluation goes from the inside to the outside.
  seen.delete(id);
  seen.set(id, { times, value });
  return value;
});

/**
 * The tree of an expression with its parts followed. What is written in the expression is; what macros are expanded to
 * is not, nor are constants.
 *
 * @param isFunction whether a name with dots in it is that of a function
 */
export function followed({ tree, textOf }, isFunction) {
  seen = new Map();
  const variables = variablesOf(tree);
  const isWhole = (part) => {
    const root = rootOf(part);
    return root !== undefined && !variables.has(root);
  };
  const follow = (part, parent) => {
    const inner = inside(part, (each) => follow(each, part), { isFunction, isWhole });
    const text = part.id === parent?.id || !isTold(part) ? "" : textOf(part.id);
    return text === "" || EXPANDED.test(text.replace(TEXT, "")) ? inner : noted(part.id, inner);
  };
  return follow(tree, undefined);
}

/** The names that macros give to what they go through. */
function variablesOf(tree) {
  const names = new Set();
  const look = (part) => {
    const { case: kind, value } = part.exprKind;
    if (kind === "comprehensionExpr")
      for (const name of [value.iterVar, value.iterVar2, value.accuVar]) names.add(name);
    return withParts(part, look);
  };
  look(tree);
  return names;
}

function noted(id, part) {
  const { call, int } = partsAt(id);
  return call(SEEN, int(BigInt(id)), part);
}

/** Constants say what they are, and `ctx` is everything. */
function isTold({ exprKind: { case: kind, value } }) {
  if (kind === "identExpr") return value.name !== "ctx";
  return kind === "selectExpr" || kind === "callExpr" || kind === "comprehensionExpr";
}

/**
 * A part with its own parts followed; a path such as ctx.trigger.a is one part, as the beginning of the name of a type
 * has no value, and so is what `has()` asks for.
 */
function inside(part, follow, { isFunction, isWhole }) {
  const { case: kind, value } = part.exprKind;
  if (kind === "selectExpr" && (value.testOnly || isWhole(part))) return part;
  if (kind !== "callExpr") return withParts(part, follow);
  if (value.function === "@not_strictly_false") return part;
  if (value.function === "_[_]" && rootOf(part) === "ctx") return part;
  const target = value.target && qualifiedName(value.target);
  if (!target || !isFunction(`${target}.${value.function}`)) return withParts(part, follow);
  // The names before a function are no value.
  return { ...part, exprKind: { case: kind, value: { ...value, args: value.args.map(follow) } } };
}

/** The name that a path of members and constant places begins with. */
function rootOf({ exprKind: { case: kind, value } }) {
  if (kind === "identExpr") return value.name;
  if (kind === "selectExpr") return value.testOnly ? undefined : rootOf(value.operand);
  const isPlace =
    kind === "callExpr" && value.function === "_[_]" && value.args[1]?.exprKind.case === "constExpr";
  return isPlace ? rootOf(value.args[0]) : undefined;
}

/** The parts that gave something, in the order in which they did. */
export function seenParts({ textOf, placeOf }) {
  return [...seen].slice(0, MAX_PARTS).map(([id, { times, value }]) => ({
    expression: shortened(textOf(id)),
    place: placeOf(id),
    times,
    value: shownValue(value),
  }));
}

/**
 * The part that an error is of, and the values that it failed on.
 *
 * @param givenBy what a part gives by itself; undefined for an error
 */
export function failedPart(error, { tree, textOf, placeOf }, givenBy) {
  const named = error.exprId === undefined ? undefined : partOf(tree, error.exprId);
  if (!named) return undefined;
  const isMember = named.exprKind.case === "selectExpr";
  const failing = (isMember ? undefined : failingStep(tree, named, givenBy)) ?? named;
  const on = [];
  for (const part of operandsOf(failing)) {
    const id = BigInt(part.id);
    const value = seen.has(id) ? seen.get(id).value : givenBy(part);
    if (value !== undefined) on.push({ expression: shortened(textOf(part.id)), value: shownValue(value) });
  }
  return { expression: shortened(textOf(failing.id)), place: placeOf(failing.id), on };
}

/** The library names the beginning of a path for a place that a list does not have: the first step without a value. */
function failingStep(tree, named, givenBy) {
  const hasValue = (part) => seen.has(BigInt(part.id)) || givenBy(part) !== undefined;
  let step = named;
  while (step && hasValue(step)) step = stepBehind(tree, step);
  return step;
}

/** The part that asks this one for a member or a place. */
function stepBehind(part, inner) {
  const { case: kind, value } = part.exprKind;
  const isStep =
    kind === "selectExpr"
      ? value.operand === inner
      : kind === "callExpr" && value.function === "_[_]" && value.args[0] === inner;
  if (isStep) return part;
  let found;
  withParts(part, (each) => {
    found ??= stepBehind(each, inner);
    return each;
  });
  return found;
}

/** What a part is made from, without constants; of a path, the longest beginning of it that has a value. */
function operandsOf({ exprKind: { case: kind, value } }) {
  const parts = [];
  if (kind === "selectExpr") parts.push(value.operand);
  if (kind === "callExpr") parts.push(...(value.target ? [value.target] : []), ...value.args);
  if (kind === "comprehensionExpr") parts.push(value.iterRange);
  return parts.filter((part) => part.exprKind.case !== "constExpr");
}

function shortened(text) {
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text;
}
