// Mistakes that can be known before there is an event: what an expression names and calls.
import { isCelError, isCelType } from "@bufbuild/cel";
import { environment, evaluatedTree } from "./environment.js";
import { beginLookUps, didYouMean, wantedLookUps } from "./look-ups.js";
import { wrongTimeArgument } from "./times.js";
import { partsAt, qualifiedName, withParts } from "./tree.js";

/** What the planner itself answers; everything else is a function of the environment. */
const OPERATORS = new Set(["_[_]", "_?_:_", "_&&_", "_||_", "@not_strictly_false"]);

/**
 * The mistakes of an expression, each with its place.
 *
 * @param stepNames the steps before this one: what `ctx` has beside `trigger`
 */
export function mistakesIn({ tree, placeOf }, stepNames) {
  const mistakes = new Set();
  const known = { members: new Set(["trigger", ...stepNames]), add };
  function add(id, message) {
    mistakes.add(`${placeOf(id)}: ${message}`);
  }
  look(tree, new Set(["ctx"]), known);
  return [...mistakes];
}

/** @param names what may be named here: `ctx`, and the variables of the macros around */
function look(part, names, known) {
  const { case: kind, value } = part.exprKind;
  if (kind === "comprehensionExpr") return lookAtFold(value, names, known);
  if (kind === "identExpr" || kind === "selectExpr") return lookAtName(part, names, known);
  if (kind === "callExpr") return lookAtCall(part, names, known);
  if (kind === "structExpr" && value.messageName !== "") lookAtMessage(part, known);
  lookInside(part, names, known);
}

function lookInside(part, names, known) {
  withParts(part, (inner) => {
    look(inner, names, known);
    return inner;
  });
}

function lookAtFold(fold, names, known) {
  const { accuInit, accuVar, iterRange, iterVar, loopCondition, loopStep, result } = fold;
  const inResult = new Set([...names, accuVar]);
  const inLoop = new Set([...inResult, iterVar]);
  // A variable that is named ctx has members of its own.
  const inside = accuVar === "ctx" || iterVar === "ctx" ? { ...known, members: undefined } : known;
  look(iterRange, names, known);
  look(accuInit, names, known);
  look(loopCondition, inLoop, inside);
  look(loopStep, inLoop, inside);
  look(result, inResult, inside);
}

function lookAtName(part, names, known) {
  const { first, member } = rootOf(part);
  if (!first) return lookInside(part, names, known);
  const name = first.exprKind.value.name;
  if (!names.has(name)) {
    if (!isType(part)) known.add(first.id, `nothing is named ${name}`);
    return;
  }
  if (name === "ctx" && member) lookAtMember(part.id, member, known);
}

/** The name that a chain of members begins with, and the first member. */
function rootOf(part) {
  let member;
  let first = part;
  while (first.exprKind.case === "selectExpr") {
    member = first.exprKind.value.field;
    first = first.exprKind.value.operand;
  }
  return first.exprKind.case === "identExpr" ? { first, member } : {};
}

function lookAtMember(id, member, { add, members }) {
  if (members && !members.has(member)) add(id, `ctx has no ${member}: no step before this one has that name`);
}

/** Whether a name, or a chain such as google.protobuf.Timestamp, is a type of the library. */
function isType(part) {
  return isCelType(evaluatedTree(part, {}));
}

function lookAtCall(part, names, known) {
  const { function: name, target, args } = part.exprKind.value;
  const qualified = qualifiedCall(part, names);
  if (qualified === undefined && target) look(target, names, known);
  for (const arg of args) look(arg, names, known);
  const [of, index] = args;
  const isOfContext = name === "_[_]" && of.exprKind.case === "identExpr" && of.exprKind.value.name === "ctx";
  if (isOfContext && names.has("ctx") && textOf(index) !== undefined)
    lookAtMember(part.id, textOf(index), known);
  if (qualified !== undefined) lookAtQualified(part, qualified, known);
  else if (!OPERATORS.has(name)) lookAtFunction(part, known);
}

/** The whole name of a function with dots in it, such as time.parse; undefined for a method of a value. */
function qualifiedCall({ exprKind: { value } }, names) {
  const target = value.target && qualifiedName(value.target);
  if (!target || target.startsWith(".")) return undefined;
  const name = `${target}.${value.function}`;
  if (environment.funcs.find(name)) return name;
  const isOfValue = names.has(target.split(".")[0]) || isType(value.target);
  const isMethod = [...(environment.funcs.find(value.function) ?? [])].some((each) => each.target);
  return isOfValue || isMethod ? undefined : name;
}

function lookAtQualified(part, name, known) {
  const { args } = part.exprKind.value;
  const overloads = [...(environment.funcs.find(name) ?? [])];
  if (overloads.length === 0) return known.add(part.id, notNamed(name));
  if (!overloads.some((overload) => overload.arguments.length === args.length))
    return known.add(part.id, `${name}() does not take ${args.length} arguments`);
  for (const [index, arg] of args.entries()) {
    const text = textOf(arg);
    const wrong = text === undefined ? undefined : wrongTimeArgument(name, index, text);
    if (wrong !== undefined) known.add(part.id, wrong);
  }
}

function notNamed(name) {
  return `no function is named ${name}${didYouMean(name, environment.funcs)}`;
}

function lookAtFunction(part, known) {
  const { function: name, target, args } = part.exprKind.value;
  const overloads = [...(environment.funcs.find(name) ?? [])];
  if (overloads.length === 0) return known.add(part.id, notNamed(name));
  const isTaken = (overload) =>
    (overload.target !== undefined) === (target !== undefined) && overload.arguments.length === args.length;
  if (overloads.some(isTaken)) return lookAtConstants(part, known);
  const form = target ? `value.${name}` : name;
  known.add(part.id, `${form}() with ${args.length} arguments is no function`);
}

/** A call of constants fails now or never; a pattern is compiled whatever it is matched with. */
function lookAtConstants(part, known) {
  const call = part.exprKind.value;
  const isPattern = call.function === "matches";
  const parts = [call.target, ...call.args].filter((each) => each !== undefined);
  const isConstant = ({ exprKind }) => exprKind.case === "constExpr";
  if (!/^[a-z]/i.test(call.function) || parts.length === 0 || !isConstant(parts.at(-1))) return;
  if (!isPattern && !parts.every(isConstant)) return;
  const text = partsAt(part.id).text("");
  const [target, args] = call.target ? [text, call.args] : [undefined, [text, ...call.args.slice(1)]];
  const looked = isPattern ? { ...call, target, args } : call;
  beginLookUps({});
  const given = evaluatedTree({ ...part, exprKind: { case: "callExpr", value: looked } }, {});
  // A look-up has no value before there is an event.
  const isLookUp = wantedLookUps().length > 0;
  if (isCelError(given) && !isLookUp) known.add(part.id, given.message);
}

function lookAtMessage(part, { add }) {
  const { value } = part.exprKind;
  const empty = evaluatedTree(
    { ...part, exprKind: { case: "structExpr", value: { ...value, entries: [] } } },
    {},
  );
  if (isCelError(empty)) add(part.id, empty.message);
}

function textOf({ exprKind: { case: kind, value } }) {
  return kind === "constExpr" && value.constantKind.case === "stringValue"
    ? value.constantKind.value
    : undefined;
}
