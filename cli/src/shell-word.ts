// Writes a text as one word of a POSIX shell, for commands that people paste.

/** A text in quotes, whatever is in it. */
export function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** A text in quotes only where it needs them. */
export function wordOf(text: string): string {
  return /^[\w@%+=:,./][\w@%+=:,./-]*$/.test(text) ? text : shellQuoted(text);
}
