import ts from "typescript";

const NAMES = ["it", "itWith", "test"];

/** The titles of the tests in a source text, as they stand there: `%s` and `${…}` are not filled in. */
export function testTitles(source: string): string[] {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && NAMES.includes(nameOf(node.expression))) {
      const [title] = node.arguments;
      if (title && ts.isStringLiteralLike(title)) found.push(title.text);
      else if (title && ts.isTemplateExpression(title)) found.push(title.getText().slice(1, -1));
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile("titles.ts", source, ts.ScriptTarget.Latest, true));
  return found;
}

/** `it` of `it.each(rows)("…")` and of `it("…")`. */
function nameOf(callee: ts.Expression): string {
  if (ts.isCallExpression(callee) || ts.isPropertyAccessExpression(callee)) return nameOf(callee.expression);
  return ts.isIdentifier(callee) ? callee.text : "";
}
