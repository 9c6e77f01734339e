import type { TransportResponse } from "../http/transport.js";

const MAX_LENGTH = 200;
/** More than 200 characters ever have in UTF-8. */
const MAX_BYTES = MAX_LENGTH * 4;

/** The start of an answer as one line for people; none of an answer that said no more than yes. */
export function answerLine(response: TransportResponse | undefined): string | undefined {
  if (!response || response.status === 200 || response.body.length === 0) return undefined;
  const text = new TextDecoder().decode(response.body.subarray(0, MAX_BYTES));
  const line = text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s\uFFFD]+/gu, " ").trim();
  return line === "" ? undefined : [...line].slice(0, MAX_LENGTH).join("");
}
