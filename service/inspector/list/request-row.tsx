import type { RequestRow } from "../../src/inspector/contract.js";
import { Icon } from "../parts/icon.js";
import { VisibleText } from "../parts/visible-text.js";
import { sizeOf } from "../text/bytes.js";
import type { RowParts } from "./list-row.js";

/** A received webhook in the list. */
export function requestParts(row: RequestRow): RowParts {
  return {
    title: <VisibleText text={row.reason} />,
    facts: (
      <>
        <span class="mono">
          {row.eventId === undefined ? "no event id" : <VisibleText text={row.eventId.slice(0, 8)} />}
        </span>
        <span>{row.auth === undefined ? "no listener" : row.auth === "hmac" ? "HMAC" : "JWT"}</span>
        {row.method !== "POST" && (
          <span class="mono">
            <VisibleText text={row.method.slice(0, 12)} />
          </span>
        )}
        <span>{sizeOf(row.bodyBytes)}</span>
        {row.replay && (
          <span class="origin">
            <Icon name="replay" />
            {row.replay.kind} of #{row.replay.of}
          </span>
        )}
        {row.verdictStatus !== undefined && <span class="origin">forced ({row.verdictStatus})</span>}
        {row.imported && <span class="origin">imported</span>}
      </>
    ),
  };
}
