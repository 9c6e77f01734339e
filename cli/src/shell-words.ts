/** The words of a POSIX command line: quotes, `$'…'` as browsers write it, backslashes, continued lines. */
export function shellWords(line: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  const add = (text: string) => {
    word = (word ?? "") + text;
  };
  for (let at = 0; at < line.length; at++) {
    const char = line[at] ?? "";
    if (char === "'" || line.startsWith("$'", at)) {
      const ansi = char === "$";
      const end = closing(line, at + (ansi ? 2 : 1), "'", ansi);
      const text = line.slice(at + (ansi ? 2 : 1), end);
      add(ansi ? unescaped(text) : text);
      at = end;
    } else if (char === '"') {
      const end = closing(line, at + 1, '"', true);
      add(
        line
          .slice(at + 1, end)
          .replace(/\\([\\"$`]|\n)/g, (_all, kept: string) => (kept === "\n" ? "" : kept)),
      );
      at = end;
    } else if (char === "\\") {
      const next = line[++at] ?? "";
      if (next === "\r" && line[at + 1] === "\n") at++;
      else if (next !== "\n") add(next);
    } else if (/\s/.test(char)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else add(char);
  }
  return word === undefined ? words : [...words, word];
}

/** Where the quote ends; at the line's end if it is never closed. */
function closing(line: string, from: number, quote: string, escapes: boolean): number {
  for (let at = from; at < line.length; at++) {
    if (escapes && line[at] === "\\") at++;
    else if (line[at] === quote) return at;
  }
  return line.length;
}

const ESCAPES: Readonly<Record<string, string>> = {
  n: "\n",
  r: "\r",
  t: "\t",
  "\\": "\\",
  "'": "'",
  '"': '"',
};

function unescaped(text: string): string {
  return text.replace(
    /\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{4})|(.))/gs,
    (all, hex: string | undefined, unicode: string | undefined, char: string | undefined) =>
      char === undefined
        ? String.fromCharCode(Number.parseInt(hex ?? unicode ?? "0", 16))
        : (ESCAPES[char] ?? all),
  );
}
