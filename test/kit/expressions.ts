import { readdirSync, readFileSync } from "node:fs";
import ts from "typescript";

/** A regular expression as it stands in the code. */
export interface FoundExpression {
  /** The file, from the repository's root. */
  readonly path: string;
  readonly text: string;
  /** `split` where a text is cut by it; otherwise it is looked for, again and again if it has the flag g. */
  readonly use: "split" | "search";
}

/** Every regular expression in the code of some folders; one that is put together at run time stands as it is called. */
export function expressionsIn(folders: readonly string[]): FoundExpression[] {
  return folders.flatMap((folder) =>
    readdirSync(new URL(`../../${folder}`, import.meta.url), { recursive: true, encoding: "utf8" })
      .filter((name) => /\.(?:ts|tsx|js|mjs)$/.test(name))
      .sort()
      .flatMap((name) => expressionsOf(`${folder}/${name}`)),
  );
}

function expressionsOf(path: string): FoundExpression[] {
  const text = readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
  const found: FoundExpression[] = [];
  const visit = (node: ts.Node): void => {
    const isCall = ts.isNewExpression(node) || ts.isCallExpression(node);
    if (ts.isRegularExpressionLiteral(node)) found.push({ path, text: node.text, use: useOf(node) });
    else if (isCall && node.expression.getText() === "RegExp")
      found.push({ path, text: node.getText(), use: "search" });
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true));
  return found;
}

function useOf({ parent }: ts.Node): "split" | "search" {
  const isSplit =
    ts.isCallExpression(parent) &&
    ts.isPropertyAccessExpression(parent.expression) &&
    parent.expression.name.text === "split";
  return isSplit ? "split" : "search";
}

/** Whether something in it may repeat without end: only then can it take more than a few steps for each character. */
export function isUnbounded({ text }: FoundExpression): boolean {
  return /[*+]|\{[0-9]*,\}|\\[1-9]/.test(text.replace(/\\[*+]/g, ""));
}

/** The expression as the code has it. */
export function compiled({ text }: FoundExpression): RegExp {
  const end = text.lastIndexOf("/");
  return new RegExp(text.slice(1, end), text.slice(end + 1));
}

/** Does what the code does with it. */
export function applied(expression: RegExp, use: FoundExpression["use"], text: string): unknown {
  if (use === "split") return text.split(expression);
  expression.lastIndex = 0;
  return expression.global ? text.replace(expression, "") : expression.exec(text);
}

/**
 * Makers of texts that an expression may take long for: what it looks for, its single characters and pairs of them, again
 * and again, behind each of its beginnings, and with an end that fits nothing.
 */
export function hostileTexts({ text }: FoundExpression): ((length: number) => string)[] {
  const source = text.slice(1, text.lastIndexOf("/"));
  const words = [...source.matchAll(/(?:[A-Za-z0-9 :;,=_"'/<>@!%&-]|\\[/.^$|])+/g)].map(([word]) =>
    word.replaceAll("\\", ""),
  );
  const literal = [...new Set(words.join(""))].slice(0, 12);
  const characters = [
    ...new Set([...literal, " ", "\t", "\n", '"', "'", "\\", "a", "0", ".", "é", "{", "}"]),
  ];
  const pairs = characters.flatMap((one) => characters.map((other) => (one === other ? one : one + other)));
  const longer = words.filter((word) => word.length > 1);
  const pumps = [...new Set([...pairs, ...longer, ...longer.map((word) => `${word} `)])];
  const fronts = ["", ...longer, longer.join("")];
  // A single character behind each other one: what stands before a row of blanks may have to be there.
  const behind = literal.map((one) => `x${one}x`);
  const texts = [
    ...[...new Set(fronts)].flatMap((front) => pumps.map((pump) => [front, pump] as const)),
    ...behind.flatMap((front) => characters.map((pump) => [front, pump] as const)),
  ];
  return texts.flatMap(([front, pump]) =>
    ["", "\u0000", "x", "\\", "\\\n"].map(
      (end) => (length: number) => front + pump.repeat(Math.ceil(length / pump.length)) + end,
    ),
  );
}
