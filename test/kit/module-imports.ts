import ts from "typescript";

/** One import or re-export of a module. */
export interface ModuleImport {
  readonly from: string;
  /** Nothing of it is left at run time. */
  readonly typeOnly: boolean;
  /** It is loaded when the line runs. */
  readonly isLate?: boolean;
}

const known = new Map<string, readonly ModuleImport[]>();

/** Every module a source text imports: statements, re-exports and `import()`. A text is parsed once, as several rules ask. */
export function importsOf(source: string): readonly ModuleImport[] {
  const found = known.get(source) ?? parsedImports(source);
  known.set(source, found);
  return found;
}

function parsedImports(source: string): ModuleImport[] {
  const found: ModuleImport[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) && ts.isStringLiteral(node.moduleSpecifier))
      found.push({ from: node.moduleSpecifier.text, typeOnly: isTypeImport(node.importClause) });
    if (ts.isExportDeclaration(node) && node.moduleSpecifier && ts.isStringLiteral(node.moduleSpecifier))
      found.push({ from: node.moduleSpecifier.text, typeOnly: isTypeExport(node) });
    if (ts.isCallExpression(node) && isLoad(node.expression)) {
      const [argument] = node.arguments;
      found.push({
        from: argument && ts.isStringLiteralLike(argument) ? argument.text : "?",
        typeOnly: false,
        isLate: true,
      });
    }
    if (
      ts.isImportTypeNode(node) &&
      ts.isLiteralTypeNode(node.argument) &&
      ts.isStringLiteral(node.argument.literal)
    )
      found.push({ from: node.argument.literal.text, typeOnly: true });
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile("module.ts", source, ts.ScriptTarget.Latest));
  return found;
}

function isLoad(callee: ts.Expression): boolean {
  return (
    callee.kind === ts.SyntaxKind.ImportKeyword || (ts.isIdentifier(callee) && callee.text === "require")
  );
}

function isTypeImport(clause: ts.ImportClause | undefined): boolean {
  if (clause === undefined) return false;
  if (clause.phaseModifier === ts.SyntaxKind.TypeKeyword) return true;
  const named = clause.namedBindings;
  return (
    clause.name === undefined &&
    named !== undefined &&
    ts.isNamedImports(named) &&
    named.elements.every((element) => element.isTypeOnly)
  );
}

function isTypeExport(node: ts.ExportDeclaration): boolean {
  if (node.isTypeOnly) return true;
  const clause = node.exportClause;
  return (
    clause !== undefined &&
    ts.isNamedExports(clause) &&
    clause.elements.every((element) => element.isTypeOnly)
  );
}
