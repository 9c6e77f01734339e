import ts from "typescript";

const MAX_DEPTH = 12;

/** Every place in what a module exports whose type is `any`, as a path; types of other packages are not entered. */
export function anyTypes(program: ts.Program, file: string): string[] {
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(file);
  const module = source && checker.getSymbolAtLocation(source);
  if (!source || !module) throw new Error(`${file} is not a module`);
  const found: string[] = [];
  const seen = new Set<ts.Type>();

  /** TypeScript's own Iterable and AsyncIterable say any for what nobody passes: only the first one is given. */
  function argumentsOf(type: ts.TypeReference): readonly ts.Type[] {
    const given = checker.getTypeArguments(type);
    return /^(?:Async)?Iterable$/.test(type.symbol?.name ?? "") ? given.slice(0, 1) : given;
  }

  function visit(type: ts.Type, path: string, depth: number): void {
    if (type.flags & ts.TypeFlags.Any) {
      found.push(path);
      return;
    }
    if (seen.has(type) || depth > MAX_DEPTH) return;
    seen.add(type);
    if (type.isUnionOrIntersection()) for (const member of type.types) visit(member, path, depth + 1);
    for (const argument of type.aliasTypeArguments ?? []) visit(argument, `${path}<>`, depth + 1);
    if (isReference(type)) for (const argument of argumentsOf(type)) visit(argument, `${path}<>`, depth + 1);
    for (const signature of [...type.getCallSignatures(), ...type.getConstructSignatures()]) {
      for (const parameter of signature.getParameters())
        visit(
          checker.getTypeOfSymbolAtLocation(parameter, source as ts.SourceFile),
          `${path}(${parameter.name})`,
          depth + 1,
        );
      visit(signature.getReturnType(), `${path}()`, depth + 1);
    }
    for (const property of type.getProperties()) {
      // A declaration file says `#private` and no type where a class has private members.
      if (property.name.endsWith("#private")) continue;
      if (property.declarations?.some((declaration) => isOurs(declaration.getSourceFile().fileName)))
        visit(
          checker.getTypeOfSymbolAtLocation(property, source as ts.SourceFile),
          `${path}.${property.name}`,
          depth + 1,
        );
    }
  }

  for (const entry of checker.getExportsOfModule(module)) {
    for (const symbol of checker.getExportsOfModule(resolved(checker, entry))) {
      const target = resolved(checker, symbol);
      const path = `${entry.name}.${symbol.name}`;
      if (target.flags & ts.SymbolFlags.Value)
        visit(checker.getTypeOfSymbolAtLocation(target, source), path, 0);
      if (target.flags & ts.SymbolFlags.Type) visit(checker.getDeclaredTypeOfSymbol(target), path, 0);
    }
  }
  return found;
}

function resolved(checker: ts.TypeChecker, symbol: ts.Symbol): ts.Symbol {
  return symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
}

function isReference(type: ts.Type): type is ts.TypeReference {
  return (
    (type.flags & ts.TypeFlags.Object) !== 0 &&
    ((type as ts.ObjectType).objectFlags & ts.ObjectFlags.Reference) !== 0
  );
}

function isOurs(fileName: string): boolean {
  return !fileName.includes("/node_modules/");
}
