// Finds functions that are longer than an outline can show.
import ts from "typescript";
import type { SourceFile } from "./architecture-rules.js";

/** The functions of a file that have more lines than that, as `src/a.ts:12 has 90 lines`. */
export function longFunctionsIn({ path, text }: SourceFile, maxLines: number): string[] {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.ESNext, true);
  const lineOf = (position: number) => file.getLineAndCharacterOfPosition(position).line + 1;
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node)) {
      const [first, last] = [lineOf(node.getStart(file)), lineOf(node.end)];
      if (last - first + 1 > maxLines) found.push(`${path}:${first} has ${last - first + 1} lines`);
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}
