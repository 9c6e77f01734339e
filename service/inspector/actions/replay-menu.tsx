import { useEffect, useState } from "preact/hooks";
import type { ListenerInfo, ReplayOrder, RequestDetail } from "../../src/inspector/contract.js";
import { freshForMs, statusOfExact, statusOfSameId } from "../copy/expected-status.js";
import { Menu, type MenuItem } from "../parts/menu.js";
import { minutesAndSeconds } from "../text/time.js";

interface ReplayMenuProps {
  readonly detail: RequestDetail;
  readonly listener: ListenerInfo | undefined;
  readonly open: boolean;
  onToggle(open: boolean): void;
  nowMs(): number;
  onReplay(order: ReplayOrder): void;
  onEdit(): void;
}

/** Sends a request again, in one of four ways; each says what it will get. */
export function ReplayMenu({ detail, listener, open, onToggle, nowMs, onReplay, onEdit }: ReplayMenuProps) {
  const now = useSeconds(open, nowMs);
  const canSign = listener?.canSign === true;
  const cannotSign = "This server has nothing to sign with.";
  const sameId = statusOfSameId(detail);
  const items: MenuItem[] = [
    {
      label: "Same id, signed anew",
      note: !canSign
        ? cannotSign
        : sameId
          ? `${sameId}: the id is used up`
          : "the same event, rightly signed",
      disabled: !canSign || detail.eventId === undefined,
      run: () => onReplay({ kind: "same-id" }),
    },
    {
      label: "Exact headers and bytes",
      note: noteOfExact(detail, now),
      run: () => onReplay({ kind: "exact" }),
    },
    {
      label: "New id, signed anew",
      note: canSign ? "200: the automation runs again" : cannotSign,
      disabled: !canSign,
      run: () => onReplay({ kind: "new-id" }),
    },
    { label: "Edit and send …", note: "body, id, timestamp, headers", run: onEdit },
  ];
  return <Menu label="Replay" icon="replay" shortcut="r" items={items} open={open} onToggle={onToggle} />;
}

function noteOfExact(detail: RequestDetail, now: number) {
  const status = statusOfExact(detail, now);
  const left = freshForMs(detail, now);
  if (status === undefined) return "the automation decides";
  if (left === undefined || left === 0 || status === 400)
    return `${status}${left === 0 ? ": the timestamp is stale" : ""}`;
  return (
    <>
      {status} for <span class="countdown">{minutesAndSeconds(left)}</span> more, then 400
    </>
  );
}

/** The time, anew every second while somebody looks. */
function useSeconds(active: boolean, nowMs: () => number): number {
  const [now, setNow] = useState(nowMs);
  useEffect(() => {
    if (!active) return;
    setNow(nowMs());
    const timer = setInterval(() => setNow(nowMs()), 1000);
    return () => clearInterval(timer);
  }, [active, nowMs]);
  return now;
}
