// Macros with two variables, as cel-spec's extension "comprehensions" describes them.
// The parser of @bufbuild/cel expands macros with one variable, and leaves the others as calls of functions that do
// not exist.
import { partsAt, withParts } from "./tree.js";

/** Under which name a fold keeps what it has so far: the parser's own, which no expression can write. */
const SO_FAR = "@result";
const ENTRY = "@entry";

const WITH_ONE = new Map([
  ["all", [2]],
  ["exists", [2]],
  ["exists_one", [2]],
  ["existsOne", [2]],
  ["filter", [2]],
  ["map", [2, 3]],
]);
const WITH_TWO = new Map([
  ["all", { lengths: [3], expanded: all }],
  ["exists", { lengths: [3], expanded: exists }],
  ["exists_one", { lengths: [3], expanded: existsOne }],
  ["existsOne", { lengths: [3], expanded: existsOne }],
  ["transformList", { lengths: [3, 4], expanded: transformList }],
  ["transformMap", { lengths: [3, 4], expanded: transformMap }],
  ["transformMapEntry", { lengths: [3, 4], expanded: transformMapEntry }],
]);

/** A macro that is not written as macros are. */
export class MacroError extends Error {
  constructor(id, message) {
    super(message);
    this.id = id;
  }
}

/**
 * Expands what the parser has left, from the inside to the outside.
 *
 * @throws {MacroError}
 */
export function withMacros(part) {
  const { case: kind, value } = part.exprKind;
  if (kind === "callExpr") return withMacro(withParts(part, withMacros));
  if (kind === "structExpr" && value.messageName === "") return withDistinctKeys(withParts(part, withMacros));
  return withParts(part, withMacros);
}

function withMacro(part) {
  const { function: name, target, args } = part.exprKind.value;
  if (name === "has" && !target)
    throw new MacroError(part.id, "has() takes one field, such as has(ctx.trigger.email)");
  if (!target || (!WITH_ONE.has(name) && !WITH_TWO.has(name))) return part;
  const macro = WITH_TWO.get(name);
  if (!macro?.lengths.includes(args.length)) {
    if (WITH_ONE.get(name)?.includes(args.length))
      throw new MacroError(part.id, `the first argument of ${name}() is a name, such as item`);
    throw new MacroError(part.id, `${name}() does not take ${args.length} arguments`);
  }
  const [key, item] = args.slice(0, 2).map(({ exprKind }) => exprKind.value?.name);
  const areNames = args.slice(0, 2).every(({ exprKind }) => exprKind.case === "identExpr");
  if (!areNames || key === item)
    throw new MacroError(part.id, `the first two arguments of ${name}() are two names, such as key, value`);
  return macro.expanded(entriesOf(part, key, item), ...args.slice(2));
}

/**
 * What the expansions share. A name is bound by a fold over nothing that begins with its value, which is how cel.bind
 * is expanded.
 */
function entriesOf({ id, exprKind }, key, item) {
  const parts = partsAt(id);
  const { bool, call, fold, int, list, name } = parts;
  const bind = (variable, value, result) =>
    fold({
      iterRange: list(),
      iterVar: "@none",
      accuVar: variable,
      accuInit: value,
      loopCondition: bool(false),
      loopStep: name(variable),
      result,
    });
  const entryAt = (index) => call("_[_]", name(ENTRY), int(index));
  return {
    ...parts,
    key,
    soFar: name(SO_FAR),
    /** @param begin what the fold begins with; its step sees both names */
    fold: ({ begin, condition = bool(true), step, result = name(SO_FAR) }) =>
      fold({
        iterRange: call("@entries", exprKind.value.target),
        iterVar: ENTRY,
        accuVar: SO_FAR,
        accuInit: begin,
        loopCondition: condition,
        loopStep: bind(key, entryAt(0n), bind(item, entryAt(1n), step)),
        result,
      }),
  };
}

function all({ bool, call, fold, soFar }, test) {
  const condition = call("@not_strictly_false", soFar);
  return fold({ begin: bool(true), condition, step: call("_&&_", soFar, test) });
}

function exists({ bool, call, fold, soFar }, test) {
  const condition = call("@not_strictly_false", call("!_", soFar));
  return fold({ begin: bool(false), condition, step: call("_||_", soFar, test) });
}

function existsOne({ call, fold, int, soFar }, test) {
  const step = call("_?_:_", test, call("_+_", soFar, int(1n)), soFar);
  return fold({ begin: int(0n), step, result: call("_==_", soFar, int(1n)) });
}

function transformList({ call, fold, list, soFar }, ...testAndGiven) {
  const [given, test] = testAndGiven.reverse();
  const added = call("_+_", soFar, list(given));
  return fold({ begin: list(), step: test ? call("_?_:_", test, added, soFar) : added });
}

function transformMap(entries, ...testAndGiven) {
  const given = testAndGiven.pop();
  return transformMapEntry(entries, ...testAndGiven, entries.map(entries.name(entries.key), given));
}

function transformMapEntry(entries, ...testAndGiven) {
  return entries.call("@merged", transformList(entries, ...testAndGiven));
}

/** A map of which two keys may be one number of two types: the library looks at keys of one type only. */
function withDistinctKeys(part) {
  const { entries } = part.exprKind.value;
  const isText = ({ keyKind: { value } }) => value.exprKind.value?.constantKind?.case === "stringValue";
  return entries.length < 2 || entries.every(isText)
    ? part
    : partsAt(part.id).call("@merged", partsAt(part.id).list(part));
}
