// The requests and the one that is open.
import type { ComponentChildren, Ref } from "preact";
import type { ListenerInfo, RequestDetail, RequestRow } from "../../src/inspector/contract.js";
import { Comparison } from "../detail/comparison.js";
import { Detail } from "../detail/request-detail.js";
import type { Api } from "../live/api.js";
import { Icon } from "../parts/icon.js";
import { ListAndDetail } from "./list-and-detail.js";
import { requestParts } from "./request-row.js";
import type { Requests } from "./use-requests.js";

interface RequestsViewProps {
  readonly api: Api;
  readonly rows: readonly RequestRow[];
  readonly requests: Requests;
  readonly listeners: readonly ListenerInfo[];
  readonly detail: RequestDetail | "gone" | undefined;
  readonly actions: ComponentChildren;
  readonly search: Ref<HTMLInputElement>;
  /** The request that the next one is compared with. */
  readonly compared: number | undefined;
  nowMs(): number;
  onCompare(n: number | undefined): void;
  onNote(note: string): void;
  onCopy(text: string, what: string): void;
}

/** The list of requests, and the one that is open. */
export function RequestsView(props: RequestsViewProps) {
  const { rows, requests, listeners, search, nowMs } = props;
  const { filter, setFilter, shown, lines, chosen, following, follow, choose, move } = requests;
  const { isGrouped, setGrouped, fold } = requests;
  const newer = shown.findIndex(({ n }) => n === chosen);
  return (
    <ListAndDetail
      label="Requests"
      one="request"
      filtered={requests}
      lines={lines}
      onFold={fold}
      sources={{ label: "Listener", all: "All listeners", ids: listeners.map(({ id }) => id) }}
      search={search}
      parts={requestParts}
      chosen={chosen}
      following={following}
      nowMs={nowMs}
      onChoose={choose}
      onMove={move}
      chips={
        <>
          <PinFilter rows={rows} text={filter.text} onText={(text) => setFilter({ text })} />
          {rows.some(({ code }) => code !== undefined) && (
            <button
              type="button"
              aria-pressed={isGrouped}
              title="Refusals of one cause are one line"
              onClick={() => setGrouped(!isGrouped)}
            >
              By cause
            </button>
          )}
        </>
      }
      more={
        <button
          type="button"
          class="follow"
          aria-pressed={following}
          aria-keyshortcuts="f"
          title="Open the newest as it comes (f)"
          onClick={() => (following ? choose(chosen) : follow())}
        >
          <Icon name="follow" /> Follow{" "}
          {!following && newer > 0 && <b title="newer than the open one">{newer}</b>}
        </button>
      }
    >
      <Open {...props} />
    </ListAndDetail>
  );
}

const PINNED = /(?:^|\s)is:pinned(?=\s|$)/i;

/** A button for what is pinned: it is a word of the search. */
function PinFilter({
  rows,
  text,
  onText,
}: {
  rows: readonly RequestRow[];
  text: string;
  onText(text: string): void;
}) {
  const count = rows.filter(({ pinned }) => pinned).length;
  const isOn = PINNED.test(text);
  if (count === 0 && !isOn) return null;
  return (
    <button
      type="button"
      aria-pressed={isOn}
      onClick={() => onText(isOn ? text.replace(PINNED, "").trim() : `${text} is:pinned`.trim())}
    >
      <Icon name="pin" /> Pinned <b>{count}</b>
    </button>
  );
}

/** The request that is open, or the two that are compared. */
function Open(props: RequestsViewProps) {
  const { api, requests, detail, actions, compared, nowMs, onCompare, onNote, onCopy } = props;
  const { chosen, choose, follow } = requests;
  return (
    <>
      {compared !== undefined && compared === chosen && (
        <p class="remark choosing">
          Choose the request that #{compared} is compared with.{" "}
          <button type="button" onClick={() => onCompare(undefined)}>
            Cancel
          </button>
        </p>
      )}
      {chosen !== undefined && detail === "gone" && (
        <p class="nothing">
          <span class="note">Request #{chosen} is not kept any more. </span>
          <button type="button" onClick={follow}>
            Show the newest
          </button>
        </p>
      )}
      {chosen !== undefined &&
        detail !== undefined &&
        detail !== "gone" &&
        (compared === undefined || compared === detail.n ? (
          <Detail
            key={detail.n}
            detail={detail}
            actions={actions}
            debug={api.debug}
            nowMs={nowMs}
            onChoose={choose}
            onNote={onNote}
            onCopy={onCopy}
          />
        ) : (
          <Comparison api={api} first={compared} second={detail} onClose={() => onCompare(undefined)} />
        ))}
    </>
  );
}
