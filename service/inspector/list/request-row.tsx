// A received webhook in the list.
import { isForced, type RequestRow } from "../../src/inspector/contract.js";
import { isTaken } from "../detail/forwarded.js";
import { Icon } from "../parts/icon.js";
import { VisibleText } from "../parts/visible-text.js";
import { sizeOf } from "../text/bytes.js";
import type { RowParts } from "./list-row.js";

/** A received webhook in the list: what it is and how it begins, or why it was refused. */
export function requestParts(row: RequestRow): RowParts {
  const { eventType, preview, eventId, method, replay, note } = row;
  return {
    title: (
      <>
        {row.pinned && <Pinned />}
        {isAccepted(row) && (eventType ?? preview) !== undefined ? (
          <>
            {eventType !== undefined && (
              <b>
                <VisibleText text={eventType} />
              </b>
            )}{" "}
            {preview !== undefined && (
              <span class="note">
                <VisibleText text={preview} />
              </span>
            )}
          </>
        ) : (
          <span class="cause">
            <VisibleText text={causeOf(row)} />
          </span>
        )}
      </>
    ),
    facts: (
      <>
        {replay && (
          <span class="origin">
            <Icon name="replay" />
            {replay.kind} of #{replay.of}
          </span>
        )}
        {row.forwardedStatus !== undefined && (
          <span class={`origin ${isTaken(row.forwardedStatus) ? "" : "refused"}`}>
            application: {row.forwardedStatus === 0 ? "no answer" : row.forwardedStatus}
          </span>
        )}
        {row.isTest && <span class="origin">test event</span>}
        {isForced(row) && <span class="origin">forced ({row.forwardedStatus || row.verdictStatus})</span>}
        {row.imported && <span class="origin">imported</span>}
        <span>{row.durationMs} ms</span>
        {note !== undefined && (
          <span class="own">
            <VisibleText text={note} />
          </span>
        )}
        {!isAccepted(row) && eventType !== undefined && (
          <span>
            <VisibleText text={eventType} />
          </span>
        )}
        {row.auth === "jwt" && <span>JWT</span>}
        {row.scheme !== undefined && (
          <span>
            <VisibleText text={row.scheme} />
          </span>
        )}
        {method !== "POST" && (
          <span class="mono">
            <VisibleText text={method.slice(0, 12)} />
          </span>
        )}
        {eventId !== undefined && (
          <span class="mono id">
            <VisibleText text={eventId.slice(0, 8)} />
          </span>
        )}
        <span class="size">{sizeOfRow(row)}</span>
      </>
    ),
  };
}

function Pinned() {
  return (
    <span class="pinned">
      <Icon name="pin" />
      <span class="visually-hidden">pinned </span>
    </span>
  );
}

function isAccepted({ code, isUnread }: RequestRow): boolean {
  return code === undefined && isUnread === undefined;
}

/** Why it was refused, in a few words: the whole sentence stands in its details. */
function causeOf({ cause, code, reason, isUnread }: RequestRow): string {
  if (cause !== undefined || code === undefined || isUnread) return cause ?? reason;
  const words = code.toLowerCase().replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** The size of a body; of one that was cut, how much of it was read. */
export function sizeOfRow({ bodyBytes, isCut }: Pick<RequestRow, "bodyBytes" | "isCut">): string {
  if (!isCut) return sizeOf(bodyBytes);
  return bodyBytes === 0 ? "not read" : `cut at ${sizeOf(bodyBytes)}`;
}
