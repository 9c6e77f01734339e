// Fields in backquotes, such as ctx.trigger.`content-type`, which the parser of @bufbuild/cel does not know.
// They are replaced by names of the same length before it reads the expression, and put back into what it made of it.
import { withParts } from "./tree.js";

/** Comments and texts, which may contain backquotes, and fields in backquotes. */
const TOKEN =
  /\/\/[^\n]*|[rR]("""|''')[\s\S]*?(?:\1|$)|("""|''')(?:\\[\s\S]|(?!\2)[^\\])*(?:\2|\\?$)|[rR]("|')[\s\S]*?(?:\3|$)|"(?:\\[\s\S]|[^"\\])*(?:"|\\?$)|'(?:\\[\s\S]|[^'\\])*(?:'|\\?$)|`(?<field>[A-Za-z0-9_./ -]+)`/g;

/** The expression with a name in the place of each field in backquotes, and the fields by these names. */
export function withoutQuotes(expression) {
  const fields = new Map();
  if (!expression.includes("`")) return { text: expression, fields };
  let count = 0;
  const text = expression.replace(TOKEN, (token, ...groups) => {
    const { field } = groups.at(-1);
    if (field === undefined) return token;
    let name;
    do name = `_${(count++).toString(36).padStart(token.length - 1, "_")}`;
    while (expression.includes(name));
    fields.set(name, field);
    return name;
  });
  return { text, fields };
}

/**
 * A tree with the fields where their names stand.
 *
 * @param refuse is called with the place of a field that stands where no field may
 */
export function withFields(tree, fields, refuse) {
  const change = (part) => {
    const { case: kind, value } = part.exprKind;
    if (fields.has(value?.name) || fields.has(value?.function)) refuse(part.id);
    const changed = withParts(part, change);
    const inner = changed.exprKind.value;
    if (kind === "selectExpr") inner.field = fields.get(inner.field) ?? inner.field;
    if (kind === "structExpr") inner.entries = inner.entries.map(withField);
    return changed;
  };
  const withField = (entry) => {
    const { case: kind, value } = entry.keyKind;
    return kind === "fieldKey"
      ? { ...entry, keyKind: { case: kind, value: fields.get(value) ?? value } }
      : entry;
  };
  return fields.size === 0 ? tree : change(tree);
}
