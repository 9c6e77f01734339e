// What an editor shows of the packages: a text at every export and option, and pages that exist.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { expect, it } from "vitest";
import { root } from "../kit/built-package.js";

/** The declarations that a package hands out, by its `exports`. */
function declarationsOf(folder: string): string[] {
  const { exports } = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8")) as {
    exports: Record<string, string | { types?: string }>;
  };
  return Object.values(exports).flatMap((door) =>
    typeof door === "object" && door.types ? [join(root, folder, door.types)] : [],
  );
}

const doors = [...declarationsOf("."), ...declarationsOf("service")];
const editor = ts.createLanguageService({
  getCompilationSettings: () => ({
    module: ts.ModuleKind.NodeNext,
    target: ts.ScriptTarget.ES2023,
    strict: true,
    types: ["node"],
  }),
  getScriptFileNames: () => doors,
  getScriptVersion: () => "1",
  getScriptSnapshot: (file) =>
    existsSync(file) ? ts.ScriptSnapshot.fromString(readFileSync(file, "utf8")) : undefined,
  getCurrentDirectory: () => root,
  getDefaultLibFileName: ts.getDefaultLibFilePath,
  fileExists: ts.sys.fileExists,
  readFile: ts.sys.readFile,
  readDirectory: ts.sys.readDirectory,
  directoryExists: ts.sys.directoryExists,
  getDirectories: ts.sys.getDirectories,
});

/** What the editor shows at a declaration's name: its documentation and its tags. */
function hoverAt(declaration: ts.Declaration): { text: string; tags: string } {
  const name = ts.getNameOfDeclaration(declaration);
  const file = declaration.getSourceFile();
  const info = name && editor.getQuickInfoAtPosition(file.fileName, name.getStart(file));
  const tags = (info?.tags ?? []).map((tag) => ts.displayPartsToString(tag.text)).join("\n");
  return { text: ts.displayPartsToString(info?.documentation).trim(), tags };
}

/** Types whose members a user writes down, by their names; a table of codes or of event types has its values. */
const OPTIONS =
  /^(?:Sender|Send|Retry|Outbox|Hmac|Jwt|Receiver|Remote|Transport)\w*(?:Options|Policy|Input)$/;

/** Interfaces whose methods a user calls, with options that are written out there. */
const CALLED = /^(?:Outbox|Receiver|Sender)$/;

/** The members of options that stand inside a function's own declaration, by the function's and their names. */
function inlineOptionsOf(declaration: ts.Declaration): [string, ts.Declaration][] {
  if (!ts.isFunctionLike(declaration)) return [];
  const name = ts.getNameOfDeclaration(declaration)?.getText() ?? "";
  return declaration.parameters.flatMap(({ type }) =>
    membersIn(type).map((member): [string, ts.Declaration] => [`${name}(${member.name?.getText()})`, member]),
  );
}

/** The members of a type that is written out, also as a part of an intersection, a union or Readonly. */
function membersIn(type: ts.TypeNode | undefined): ts.TypeElement[] {
  if (type === undefined) return [];
  if (ts.isTypeLiteralNode(type)) return type.members.filter((member) => member.name !== undefined);
  if (ts.isIntersectionTypeNode(type) || ts.isUnionTypeNode(type)) return type.types.flatMap(membersIn);
  return ts.isTypeReferenceNode(type) ? (type.typeArguments ?? []).flatMap(membersIn) : [];
}

/** Every export, and every member of an exported type of options, with what is shown of it. */
function shownOf(): Map<string, { text: string; tags: string }> {
  const program = editor.getProgram();
  const checker = program?.getTypeChecker();
  const shown = new Map<string, { text: string; tags: string }>();
  for (const door of doors) {
    const source = program?.getSourceFile(door);
    const module = source && checker?.getSymbolAtLocation(source);
    if (!checker || !module) throw new Error(`${door} is no module: is it built?`);
    for (const symbol of checker.getExportsOfModule(module)) {
      const own = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
      const declarations = own.declarations ?? [];
      const [first] = declarations;
      if (first) shown.set(own.name, hoverAt(first));
      const functions = declarations.flatMap((one) =>
        ts.isInterfaceDeclaration(one) && CALLED.test(own.name) ? [...one.members] : [one],
      );
      for (const [name, member] of functions.flatMap(inlineOptionsOf)) shown.set(name, hoverAt(member));
      if (!OPTIONS.test(own.name)) continue;
      for (const member of declarations.flatMap((one) => (ts.isInterfaceDeclaration(one) ? one.members : [])))
        shown.set(`${own.name}.${member.name?.getText()}`, hoverAt(member));
    }
  }
  return shown;
}

const shown = shownOf();

it("every export and every option of the main doors has a text in the editor", () => {
  expect(shown.size).toBeGreaterThan(300);
  const silent = [...shown].filter(([, { text }]) => text === "").map(([name]) => name);
  expect(silent).toEqual([]);
});

it("a page that a text names is there", () => {
  const named = [...shown].flatMap(([name, { text, tags }]) =>
    [...`${text}\n${tags}`.matchAll(/\bdocs\/[\w/-]+\.md/g)].map(([page]) => [name, page] as const),
  );
  expect(named.length).toBeGreaterThan(5);
  expect(named.filter(([, page]) => !existsSync(join(root, page)))).toEqual([]);
  // Its paragraphs are for people who change this project.
  expect(named.filter(([, page]) => page === "docs/decisions.md")).toEqual([]);
});
