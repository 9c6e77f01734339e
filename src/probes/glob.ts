/** Whether a text fits one of the patterns, in which `*` stands for any text and everything else for itself. */
export function matchesAny(text: string, patterns: string | readonly string[]): boolean {
  return [patterns].flat().some((pattern) => matches(text, pattern));
}

function matches(text: string, pattern: string): boolean {
  const [first = "", ...rest] = pattern.split("*");
  const last = rest.pop();
  if (last === undefined) return text === first;
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const part of rest) {
    const found = text.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}
