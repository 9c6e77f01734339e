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
  host.getSourceFile = (path, version) => {
    const text = host.readFile(path);
    return text === undefined ? undefined : compiler.createSourceFile(path, text, version);
  };
  return compiler.createProgram({ rootNames: [...virtual.keys()], options, host });
}

/** What the compiler says of a program, one line each: file, line, code, message. */
export function complaints(program: ts.Program, compiler: Compiler = ts): string[] {
  return compiler.getPreEmitDiagnostics(program).map(({ file, start, code, messageText }) => {
    const line = file && start !== undefined ? file.getLineAndCharacterOfPosition(start).line + 1 : 0;
    const where = file ? `${file.fileName.replace(`${root}/`, "")}:${line} ` : "";
    return `${where}TS${code} ${compiler.flattenDiagnosticMessageText(messageText, " ")}`;
  });
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
