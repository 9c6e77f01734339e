import { dirname, join, normalize } from "node:path/posix";
import type { SourceFile } from "./architecture-rules.js";
import { importsOf } from "./module-imports.js";

/** The circles in which files import each other at run time, each as its files in order; types are left out. */
export function cyclesAmong(files: readonly SourceFile[]): string[] {
  const imports = new Map(files.map((file) => [file.path, targetsOf(file, files)]));
  const done = new Set<string>();
  const cycles: string[] = [];
  const visit = (path: string, way: readonly string[]): void => {
    const at = way.indexOf(path);
    if (at >= 0) cycles.push([...way.slice(at), path].join(" > "));
    if (at >= 0 || done.has(path)) return;
    for (const target of imports.get(path) ?? []) visit(target, [...way, path]);
    done.add(path);
  };
  for (const path of imports.keys()) visit(path, []);
  return cycles;
}

/** Files of which each leads to each other by its imports, those of types included; each knot in order. */
export function knotsAmong(files: readonly SourceFile[]): string[][] {
  const imports = new Map(files.map((file) => [file.path, targetsOf(file, files, true)]));
  const reached = new Map([...imports.keys()].map((path) => [path, reachedFrom(path, imports)]));
  const knots = [...imports.keys()].map((path) =>
    [...(reached.get(path) ?? [])].filter((other) => reached.get(other)?.has(path)).sort(),
  );
  const distinct = new Map(knots.filter(({ length }) => length > 1).map((knot) => [knot.join(), knot]));
  return [...distinct.values()];
}

function reachedFrom(start: string, imports: ReadonlyMap<string, readonly string[]>): Set<string> {
  const reached = new Set<string>();
  for (const left = [start]; left.length > 0; )
    for (const target of imports.get(left.pop() ?? "") ?? []) {
      if (reached.has(target)) continue;
      reached.add(target);
      left.push(target);
    }
  return reached;
}

function targetsOf({ path, text }: SourceFile, files: readonly SourceFile[], withTypes = false): string[] {
  const known = new Set(files.map((file) => file.path));
  return importsOf(text)
    .filter(({ from, typeOnly }) => from.startsWith(".") && (withTypes || !typeOnly))
    .map(({ from }) => normalize(join(dirname(path), from)).replace(/\.js$/, ""))
    .flatMap((target) => [`${target}.ts`, `${target}.tsx`, `${target}.js`].filter((file) => known.has(file)));
}
