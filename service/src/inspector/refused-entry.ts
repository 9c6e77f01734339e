// Makes an entry of what Node's HTTP parser refused.
import type { RefusedByNode } from "../server/refused-by-node.js";
import { LIMITS } from "./contract.js";
import type { Draft } from "./record-request.js";

/** How a request line begins, as far as it can be read. */
const REQUEST_LINE = /^([A-Z]{1,20}) (\/[\x21-\x7e]{0,2000})/;

/** An entry for what Node's HTTP parser refused: no listener saw it, so there are no checks. */
export function refusedEntry({ at, status, code, reason, bytes, sourceAddress }: RefusedByNode): Draft {
  const kept = bytes.subarray(0, LIMITS.unreadBytes);
  const [, method = "?", target = "?"] = REQUEST_LINE.exec(kept.toString("latin1")) ?? [];
  return {
    row: {
      at,
      method,
      status,
      code,
      bodyBytes: kept.length,
      ...(bytes.length > kept.length ? { isCut: true } : {}),
      durationMs: 0,
      reason,
      isUnread: true,
    },
    target,
    sourceAddress,
    headers: [],
    // A copy: the socket's own memory is larger, and used again.
    body: Uint8Array.from(kept),
    checks: [],
    mistakes: [],
    answer: { headers: [["Connection", "close"]], body: "" },
  };
}
