// Sends a request again in one of four ways.
import type { ForcedAnswer, ListenerInfo, ReplayOrder, RequestDetail } from "../../src/inspector/contract.js";
import {
  freshForMs,
  type Prospect,
  prospectOfNewId,
  prospectOfSameId,
  statusOfExact,
  whoDecides,
} from "../copy/expected-status.js";
import { useNow } from "../frame/use-now.js";
import { Menu, type MenuItem } from "../parts/menu.js";
import { minutesAndSeconds } from "../text/time.js";

interface ReplayMenuProps {
  readonly detail: RequestDetail;
  readonly listener: ListenerInfo | undefined;
  /** The answer that this listener gives next, whatever the verdict. */
  readonly forced: ForcedAnswer | undefined;
  readonly open: boolean;
  onToggle(open: boolean): void;
  nowMs(): number;
  onReplay(order: ReplayOrder): void;
  onEdit(): void;
}

/** Sends a request again, in one of four ways; each says what it will get. */
export function ReplayMenu(props: ReplayMenuProps) {
  const { detail, listener, forced, open, onToggle, nowMs, onReplay, onEdit } = props;
  const now = useNow(nowMs, open);
  const hidden = whyImpossible(detail, listener);
  const unsigned = hidden ?? (listener?.canSign ? undefined : "This server has nothing to sign with.");
  const noId = detail.eventId === undefined ? "It has no event id." : undefined;
  const forcedNote = forced?.status === undefined ? undefined : `${forced.status}: this answer is forced`;
  const signed = (prospect: () => Prospect) => unsigned ?? forcedNote ?? prospectLabel(prospect());
  const items: MenuItem[] = [
    {
      label: "Same id, signed again",
      note: noId ?? signed(() => prospectOfSameId(detail)),
      disabled: (unsigned ?? noId) !== undefined,
      run: () => onReplay({ kind: "same-id" }),
    },
    {
      label: "Exact headers and bytes",
      note: hidden ?? forcedNote ?? noteOfExact(detail, now),
      disabled: hidden !== undefined,
      run: () => onReplay({ kind: "exact" }),
    },
    {
      label: "New id, signed again",
      note: signed(() => prospectOfNewId(detail)),
      disabled: unsigned !== undefined,
      run: () => onReplay({ kind: "new-id" }),
    },
    {
      label: "Edit and send …",
      note: listener ? "body, id, timestamp, headers" : hidden,
      disabled: !listener,
      run: onEdit,
    },
  ];
  return (
    <Menu
      label="Replay"
      icon="replay"
      shortcut="r"
      items={open ? items : []}
      open={open}
      onToggle={onToggle}
    />
  );
}

/** Why a request cannot be sent again as it was. */
function whyImpossible(detail: RequestDetail, listener: ListenerInfo | undefined): string | undefined {
  if (!listener) return "No listener with this path is running.";
  if (detail.isCut) return "Its body was not read to its end.";
  return detail.masked ? "A secret in it is hidden." : undefined;
}

function prospectLabel({ status, why }: Prospect): string {
  return status === undefined ? why : `${status}: ${why}`;
}

function noteOfExact(detail: RequestDetail, now: number) {
  const status = statusOfExact(detail, now);
  const left = freshForMs(detail, now);
  if (status === undefined) return whoDecides(detail);
  if (left === undefined || left === 0 || status === 400)
    return `${status}${left === 0 ? ": the timestamp is stale" : ""}`;
  return (
    <>
      {status} for <span class="countdown">{minutesAndSeconds(left)}</span> more, then 400
    </>
  );
}
