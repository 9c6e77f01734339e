import { readFileSync } from "node:fs";

const text = readFileSync(new URL("../../docs/specification.md", import.meta.url), "utf8");

/** A field as a table of section 2 names it. */
export interface SpecifiedField {
  readonly section: string;
  readonly name: string;
  readonly type: string;
}

/** An operation of section 4. */
export interface SpecifiedOperation {
  readonly section: string;
  readonly method: string;
  readonly path: string;
  /** In path and query. */
  readonly parameters: readonly string[];
}

function sections(part: string): { section: string; body: string }[] {
  return text
    .split(new RegExp(`^### (?=${part}\\.)`, "m"))
    .slice(1)
    .map((body) => ({ section: /^[0-9.]+[0-9]/.exec(body)?.[0] ?? "", body: body.split(/^## /m)[0] ?? "" }));
}

/** Every field of the tables headed "Field" in section 2. */
export function fieldTables(): SpecifiedField[] {
  return sections("2").flatMap(({ section, body }) => {
    const [, table = ""] = /^(\| Field \|[^\n]*\n(?:\|[^\n]*\n)+)/m.exec(body) ?? [];
    return table
      .split("\n")
      .slice(2)
      .filter((line) => line !== "")
      .flatMap((line) => {
        const [names = "", type = ""] = line
          .split("|")
          .slice(1)
          .map((cell) => cell.trim());
        return names.split(", ").map((name) => ({ section, name, type }));
      });
  });
}

/** Every operation of section 4. */
export function operationsOf(): SpecifiedOperation[] {
  return sections("4").map(({ section, body }) => {
    const [, method = "", path = ""] = /^- `([A-Z]+) ([^`]+)`$/m.exec(body) ?? [];
    const lines = body.split("\n").filter((line) => /^- (?:Path|Query):/.test(line));
    const parameters = lines.flatMap((line) =>
      [...line.matchAll(/`([A-Za-z_]+)`/g)].map(([, name = ""]) => name),
    );
    return { section, method: method.toLowerCase(), path, parameters };
  });
}

/** A line of the document that states something, without what only introduces others or says what is not shown. */
export interface StatingLine {
  /** Empty before the first section. */
  readonly section: string;
  readonly line: string;
}

/** Every line of the document that states something. */
export function statingLines(): StatingLine[] {
  let section = "";
  const all = text.split("\n");
  return all.flatMap((line, at) => {
    section = /^#{2,3} ([0-9.]*[0-9])/.exec(line)?.[1] ?? section;
    const isHead = /^\|-/.test(all[at + 1] ?? "");
    const isNone = /^(#.*|\|-.*|\*\*[^*]*\*\*)?$/.test(line) || /:$|not shown/.test(line);
    return isHead || isNone ? [] : [{ section, line }];
  });
}
