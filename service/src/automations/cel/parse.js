// Parses expressions, and says where each of their parts stands.
import { parse, unparse } from "@bufbuild/cel";
import { Failure, isTooLarge } from "./failure.js";
import { MacroError, withMacros } from "./macros.js";
import { withFields, withoutQuotes } from "./quoted-fields.js";
import { partOf } from "./tree.js";

/**
 * The tree of an expression, where its parts stand: line and column, such as `1:12`, and how they are written.
 *
 * @throws {Failure} `EXPRESSION_INVALID`
 */
export function parsed(expression) {
  const { text, fields } = withoutQuotes(expression);
  const { expr, sourceInfo } = parsedText(text);
  const placeOf = (id) => placeAt(expression, sourceInfo.positions[id] ?? 0);
  const invalid = (id, message) => new Failure("EXPRESSION_INVALID", `${placeOf(id)}: ${message}`);
  try {
    const tree = withFields(expr, fields, (id) => {
      throw invalid(id, "a name in backquotes stands after a dot, and nowhere else");
    });
    const textOf = (id) => {
      const part = partOf(tree, id);
      return part === undefined ? "" : unparse({ $typeName: "cel.expr.ParsedExpr", expr: part, sourceInfo });
    };
    return { tree: withMacros(tree), placeOf, textOf };
  } catch (error) {
    throw error instanceof MacroError ? invalid(error.id, error.message) : error;
  }
}

function parsedText(text) {
  try {
    // A comment at the very end has no end for the parser.
    return parse(`${text}\n`);
  } catch (error) {
    if (isTooLarge(error)) throw error;
    throw new Failure("EXPRESSION_INVALID", error.message.replace(/^<input>:/, ""));
  }
}

function placeAt(text, offset) {
  const before = text.slice(0, offset).split("\n");
  return `${before.length}:${before.at(-1).length + 1}`;
}
