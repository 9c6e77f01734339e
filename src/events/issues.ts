// Says in words what a schema found wrong.
const SHOWN_ISSUES = 3;
const SHOWN_SEGMENTS = 8;
/** A message that is longer, or a payload with more values, is not searched for quotes: the message is not shown. */
const MAX_MESSAGE = 1_000;
const MAX_VALUES = 10_000;

/**
 * The first mistakes that a schema found, such as `userId: expected string`, without a value of the payload. Libraries
 * quote values in their messages; what was expected is told by a field next to it in zod, valibot and arktype.
 */
export function issuesInWords(issues: readonly unknown[], payload: unknown): string {
  const shown = issues.slice(0, SHOWN_ISSUES).map((issue) => {
    const path = keysOf(Object(issue).path);
    return `${pathInWords(path)}: ${mistake(Object(issue), path, payload)}`;
  });
  const more = issues.length - shown.length;
  return shown.join("; ") + (more > 0 ? `; and ${more} more` : "");
}

/** A name as JSON, on one line and not too long. */
export function nameInWords(name: string): string {
  return JSON.stringify(short(name, 60));
}

function mistake(
  { expected, message }: { expected?: unknown; message?: unknown },
  path: readonly PropertyKey[],
  payload: unknown,
): string {
  if (typeof expected === "string" && expected !== "") {
    // How valibot says that a member is missing.
    return expected === JSON.stringify(path.at(-1)) ? "is missing" : `expected ${short(expected, 100)}`;
  }
  const isShown = typeof message === "string" && message !== "" && !quotes(message, payload);
  return isShown ? short(message, 100) : "is not valid";
}

/** Whether a message has a text or a number of the payload in it, or the beginning of one. */
function quotes(message: string, payload: unknown): boolean {
  if (message.length > MAX_MESSAGE) return true;
  const words = new Set(message.split(/[^\p{L}\p{N}]/u));
  const waiting: unknown[] = [payload];
  for (let seen = 0; waiting.length > 0; seen++) {
    if (seen === MAX_VALUES) return true;
    const value = waiting.pop();
    if (typeof value === "object" && value !== null) {
      for (const member of Object.values(value)) waiting.push(member);
    } else if (typeof value === "string" || typeof value === "number" || typeof value === "bigint") {
      const text = String(value).slice(0, 12);
      const isWord = text.length < 4 && /^[\p{L}\p{N}]+$/u.test(text);
      if (isWord ? words.has(text) : text !== "" && holds(message, text)) return true;
    }
  }
  return false;
}

function holds(message: string, text: string): boolean {
  return message.includes(text) || message.includes(JSON.stringify(text).slice(1, -1));
}

function keysOf(path: unknown): PropertyKey[] {
  const segments: unknown[] = Array.isArray(path) ? path : [];
  return segments.map((segment) => {
    const key = typeof segment === "object" && segment !== null ? Reflect.get(segment, "key") : segment;
    return typeof key === "number" || typeof key === "symbol" ? key : String(key);
  });
}

/** Such as `items[0].price`; `payload` for the whole of it. */
function pathInWords(path: readonly PropertyKey[]): string {
  const shown = path.slice(0, SHOWN_SEGMENTS).map((key) => {
    if (typeof key === "number") return `[${key}]`;
    const name = short(String(key), 40);
    return /^[\p{L}_$][\p{L}\p{N}_$-]*…?$/u.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`;
  });
  const words = shown.join("").replace(/^\./, "");
  return (words || "payload") + (path.length > SHOWN_SEGMENTS ? "…" : "");
}

/** At most so many characters, on one line. */
function short(text: string, max: number): string {
  const cut = text.length > max ? `${text.slice(0, max - 1)}…` : text;
  return cut.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, "?");
}
