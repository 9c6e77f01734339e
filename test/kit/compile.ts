import { dirname, join } from "node:path";
import ts from "typescript";
import { root } from "./built-package.js";

/** The compiler as its API stands in both versions the tests use. */
export type Compiler = Pick<
  typeof ts,
  | "createCompilerHost"
  | "createProgram"
  | "createSourceFile"
  | "getPreEmitDiagnostics"
  | "flattenDiagnosticMessageText"
>;

/** A program over modules that exist only here, by their path from the repository's root. */
export function programOf(
  modules: Readonly<Record<string, string>>,
  options: ts.CompilerOptions,
  compiler: Compiler = ts,
): ts.Program {
  const virtual = new Map(Object.entries(modules).map(([path, text]) => [join(root, path), text]));
  const folders = new Set([...virtual.keys()].map((path) => dirname(path)));
  const host = compiler.createCompilerHost(options);
  const { fileExists, readFile, directoryExists } = host;
  host.fileExists = (path) => virtual.has(path) || fileExists(path);
  host.readFile = (path) => virtual.get(path) ?? readFile(path);
  host.directoryExists = (path) => folders.has(path) || (directoryExists?.(path) ?? true);
  const { getSourceFile } = host;
  host.getSourceFile = (path, version, ...more) => {
    const text = virtual.get(path);
    if (text !== undefined) return compiler.createSourceFile(path, text, version);
    const parsed = parsedBy(compiler, options);
    const file = parsed.get(path) ?? getSourceFile(path, version, ...more);
    if (file && path.includes("/node_modules/")) parsed.set(path, file);
    return file;
  };
  return compiler.createProgram({ rootNames: [...virtual.keys()], options, host });
}

const parsedFiles = new WeakMap<Compiler, Map<unknown, Map<string, ts.SourceFile>>>();

/** What a compiler has parsed of other packages; programs of one test file with the same module rules share it. */
function parsedBy(compiler: Compiler, options: ts.CompilerOptions): Map<string, ts.SourceFile> {
  const byRules = parsedFiles.get(compiler) ?? new Map<unknown, Map<string, ts.SourceFile>>();
  parsedFiles.set(compiler, byRules);
  const parsed = byRules.get(options.module) ?? new Map<string, ts.SourceFile>();
  byRules.set(options.module, parsed);
  return parsed;
}

/** What the compiler says of a program, one line each: file, line, code, message. */
export function complaints(program: ts.Program, compiler: Compiler = ts): string[] {
  return compiler.getPreEmitDiagnostics(program).map((diagnostic) => lineOf(diagnostic, compiler));
}

/** What it says of the modules a program is made of, and not of the sources they import: `npm run check` reads those. */
export function complaintsOfModules(program: ts.Program): string[] {
  const seen = program
    .getRootFileNames()
    .flatMap((name) => ts.getPreEmitDiagnostics(program, program.getSourceFile(name)));
  return [...new Set(seen.map((diagnostic) => lineOf(diagnostic, ts)))]; // each file's come with the program's own
}

function lineOf({ file, start, code, messageText }: ts.Diagnostic, compiler: Compiler): string {
  const line = file && start !== undefined ? file.getLineAndCharacterOfPosition(start).line + 1 : 0;
  const where = file ? `${file.fileName.replace(`${root}/`, "")}:${line} ` : "";
  return `${where}TS${code} ${compiler.flattenDiagnosticMessageText(messageText, " ")}`;
}

/** The compiler options of one of the repository's tsconfig files. */
export function optionsOf(config: string): ts.CompilerOptions {
  const path = join(root, config);
  const parsed = ts.getParsedCommandLineOfConfigFile(
    path,
    {},
    { ...ts.sys, onUnRecoverableConfigFileDiagnostic: () => {} },
  );
  if (!parsed) throw new Error(`${config} cannot be read`);
  return parsed.options;
}
