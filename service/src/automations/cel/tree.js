// The parts of CEL's syntax tree (cel.expr.Expr) that the service makes itself, and a walk over them.

const expr = (id, kind, value) => ({ $typeName: "cel.expr.Expr", id, exprKind: { case: kind, value } });

/** The name that members of names make, such as that of a function with a namespace; "" where it is none. */
export function qualifiedName({ exprKind: { case: kind, value } }) {
  if (kind === "identExpr") return value.name;
  return kind === "selectExpr" && !value.testOnly ? `${qualifiedName(value.operand)}.${value.field}` : "";
}

/** Makes parts of a tree that all stand at one place of the expression. */
export function partsAt(id) {
  const constant = (kind, value) =>
    expr(id, "constExpr", { $typeName: "cel.expr.Constant", constantKind: { case: kind, value } });
  return {
    bool: (value) => constant("boolValue", value),
    int: (value) => constant("int64Value", value),
    text: (value) => constant("stringValue", value),
    name: (name) => expr(id, "identExpr", { $typeName: "cel.expr.Expr.Ident", name }),
    list: (...elements) =>
      expr(id, "listExpr", { $typeName: "cel.expr.Expr.CreateList", elements, optionalIndices: [] }),
    map: (key, value) =>
      expr(id, "structExpr", {
        $typeName: "cel.expr.Expr.CreateStruct",
        messageName: "",
        entries: [
          {
            $typeName: "cel.expr.Expr.CreateStruct.Entry",
            id,
            keyKind: { case: "mapKey", value: key },
            value,
            optionalEntry: false,
          },
        ],
      }),
    call: (name, ...args) => expr(id, "callExpr", { $typeName: "cel.expr.Expr.Call", function: name, args }),
    fold: (parts) => expr(id, "comprehensionExpr", { $typeName: "cel.expr.Expr.Comprehension", ...parts }),
  };
}

/** The same part with each of its own parts changed. */
export function withParts(part, change) {
  const { case: kind, value } = part.exprKind;
  const changed = (value) => ({ ...part, exprKind: { case: kind, value } });
  const maybe = (inner) => (inner === undefined ? undefined : change(inner));
  switch (kind) {
    case "selectExpr":
      return changed({ ...value, operand: change(value.operand) });
    case "callExpr":
      return changed({ ...value, target: maybe(value.target), args: value.args.map(change) });
    case "listExpr":
      return changed({ ...value, elements: value.elements.map(change) });
    case "structExpr":
      return changed({ ...value, entries: value.entries.map((entry) => withEntryParts(entry, change)) });
    case "comprehensionExpr":
      return changed({
        ...value,
        iterRange: change(value.iterRange),
        accuInit: change(value.accuInit),
        loopCondition: change(value.loopCondition),
        loopStep: change(value.loopStep),
        result: change(value.result),
      });
    default:
      return part;
  }
}

function withEntryParts(entry, change) {
  const { keyKind } = entry;
  const key = keyKind.case === "mapKey" ? { ...keyKind, value: change(keyKind.value) } : keyKind;
  return { ...entry, keyKind: key, value: change(entry.value) };
}

/** The part with an id, within a part. */
export function partOf(part, id) {
  if (String(part.id) === String(id)) return part;
  let found;
  withParts(part, (inner) => {
    found ??= partOf(inner, id);
    return inner;
  });
  return found;
}
