// Says in which line and column a text stops being JSON.
/** Where a text stops being JSON, as `line 2, column 5: unexpected "x"`; undefined where it is JSON. */
export function jsonMistake(text: string): string | undefined {
  const message = refusalOf(text);
  if (message === undefined) return undefined;
  const [, token] = /^Unexpected token '(.+?)', /su.exec(message) ?? [];
  const [, given] = / at position ([0-9]+)/.exec(message) ?? [];
  const at = given !== undefined ? Number(given) : token === undefined ? text.length : placeOf(text, token);
  const before = text.slice(0, at).split("\n");
  const place = `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`;
  const reason =
    at >= text.length
      ? "it ends too early"
      : token !== undefined
        ? `unexpected ${JSON.stringify(token)}`
        : message
            .replace(/ in JSON at position .*$/s, "")
            .replace(/^[A-Z]/, (letter) => letter.toLowerCase());
  return `${place}: ${reason}`;
}

function refusalOf(text: string): string | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/** The place of the token that V8 names without saying where: the shortest beginning that it refuses for it. */
function placeOf(text: string, token: string): number {
  let [fine, refused] = [0, text.length];
  while (refused - fine > 1) {
    const middle = (fine + refused) >> 1;
    if (refusalOf(text.slice(0, middle))?.startsWith(`Unexpected token '${token}', `)) refused = middle;
    else fine = middle;
  }
  return fine;
}
