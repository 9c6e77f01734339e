import { decodeUtf8 } from "../primitives/bytes.js";
import { jsonTokens, sortedTokens } from "./rewrite-json.js";

/** A received body that is JSON, read once for all the ways it may have been written. */
export interface BodyJson {
  readonly text: string;
  readonly value: unknown;
  readonly tokens: readonly string[];
  /** With members in the order of their names; none if the body is nested too deeply. */
  readonly sorted: readonly string[] | undefined;
  /** A text longer than this is not what was signed. */
  readonly maxLength: number;
}

/** Reads a body as JSON, a byte order mark forgiven; `undefined` when it is something else. */
export function bodyJson(bytes: Uint8Array): BodyJson | undefined {
  const text = decodeUtf8(bytes)?.replace(/^\uFEFF/, "");
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    const tokens = jsonTokens(text);
    let sorted: { tokens: readonly string[] | undefined } | undefined;
    return {
      text,
      value,
      tokens,
      get sorted() {
        sorted ??= { tokens: sortedTokens(tokens) };
        return sorted.tokens;
      },
      maxLength: 1_024 + 4 * text.length,
    };
  } catch {
    return undefined;
  }
}
