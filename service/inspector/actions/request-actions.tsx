// The buttons and menus of the open request.
import type { ForcedAnswer, ListenerInfo, ReplayOrder, RequestDetail } from "../../src/inspector/contract.js";
import { Icon } from "../parts/icon.js";
import { CopyMenu } from "./copy-menu.js";
import { ReplayMenu } from "./replay-menu.js";

export type MenuName = "replay" | "copy" | "file";

interface RequestActionsProps {
  readonly detail: RequestDetail;
  readonly listener: ListenerInfo | undefined;
  readonly forced: ForcedAnswer | undefined;
  readonly menu: MenuName | undefined;
  nowMs(): number;
  onMenu(menu: MenuName | undefined): void;
  onReplay(order: ReplayOrder): void;
  onEdit(): void;
  onCopy(text: string, what: string): void;
  onPin(): void;
  onCompare(): void;
}

/** What can be done with the open request. */
export function RequestActions(props: RequestActionsProps) {
  const { detail, listener, forced, menu, nowMs, onMenu, onReplay, onEdit, onCopy, onPin, onCompare } = props;
  const toggle = (name: MenuName) => (isOpen: boolean) => onMenu(isOpen ? name : undefined);
  return (
    <>
      <button
        type="button"
        class="quiet"
        aria-pressed={detail.pinned === true}
        aria-keyshortcuts="p"
        title="Pin (p)"
        onClick={onPin}
      >
        <Icon name="pin" />
        {detail.pinned ? "Pinned" : "Pin"}
      </button>
      <button type="button" class="quiet" title="Compare with another request" onClick={onCompare}>
        <Icon name="compare" />
        Compare
      </button>
      {!detail.isUnread && (
        <>
          <ReplayMenu
            detail={detail}
            listener={listener}
            forced={forced}
            open={menu === "replay"}
            onToggle={toggle("replay")}
            nowMs={nowMs}
            onReplay={onReplay}
            onEdit={onEdit}
          />
          <CopyMenu
            detail={detail}
            listener={listener}
            open={menu === "copy"}
            onToggle={toggle("copy")}
            nowMs={nowMs}
            onCopy={onCopy}
          />
        </>
      )}
    </>
  );
}
