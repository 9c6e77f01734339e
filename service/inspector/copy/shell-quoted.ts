// Quotes a text as one word of a shell.
import { hasHidden } from "../text/visible.js";

/** A text as one word of a POSIX shell; of bash where it has what would act in a terminal, which is written as escapes. */
export function shellQuoted(text: string): string {
  if (/^[\w@%+=:,./-]+$/.test(text)) return text;
  if (hasHidden(text.replaceAll("\n", ""))) return escaped(text);
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function escaped(text: string): string {
  const written = text.replace(/[\\']|[^ -~]/gu, (one) => {
    const code = one.codePointAt(0) ?? 0;
    if (code < 0x80)
      return one === "\\" || one === "'" ? `\\${one}` : `\\x${code.toString(16).padStart(2, "0")}`;
    return code > 0xffff
      ? `\\U${code.toString(16).padStart(8, "0")}`
      : `\\u${code.toString(16).padStart(4, "0")}`;
  });
  return `$'${written}'`;
}
