// What the page knows and has open, put together for its parts.
import { useCallback, useEffect, useMemo, useState } from "preact/hooks";
import type { MenuName } from "../actions/request-actions.js";
import { useDetail } from "../detail/use-detail.js";
import { isNarrowed, NO_FILTER } from "../list/filter.js";
import { useRequests } from "../list/use-requests.js";
import type { Api } from "../live/api.js";
import type { DialogName } from "./dialogs.js";
import { actionsOf } from "./use-actions.js";
import { useChoice } from "./use-choice.js";
import { useLive } from "./use-live.js";
import { useNote } from "./use-note.js";

/** What the page shows, and what can be done with it. */
export type PageState = ReturnType<typeof usePage>;

/** The state of the whole page. */
export function usePage(api: Api) {
  const live = useLive(api);
  const { session, clockOffsetMs, rows, forced, restarts, calls } = live;
  const [choice, setChoice] = useChoice();
  const isOfCalls = choice.view === "calls" && session?.hasCalls === true;
  const requests = useRequests(api, rows, {
    choice,
    setChoice,
    losses: session?.historyFile === undefined ? restarts : 0,
  });
  const { filter, chosen, choose } = requests;
  const [menu, setMenu] = useState<MenuName>();
  const [dialog, setDialog] = useState<DialogName>();
  const [compared, setCompared] = useState<number>();
  const [note, attempt] = useNote();

  const row = useMemo(() => rows.find(({ n }) => n === chosen), [rows, chosen]);
  const detail = useDetail(api.request, chosen, row);
  const listeners = session?.listeners ?? [];
  const opened = detail === undefined || detail === "gone" ? undefined : detail;
  const nowMs = useCallback(() => Date.now() + clockOffsetMs, [clockOffsetMs]);
  const isEmpty = rows.length === 0;
  const refused = useMemo(() => rows.filter(({ code }) => code !== undefined).length, [rows]);
  useEffect(() => {
    document.title = `${refused > 0 ? `${refused} refused · ` : ""}Hookproof inspector`;
  }, [refused]);
  useEffect(() => setCompared(undefined), [isEmpty, restarts]);
  const closeDialog = () => setDialog(undefined);
  const [count, kept] = isOfCalls
    ? [calls.length, "for all tabs; the service's journal stays"]
    : [rows.length, session?.historyFile ? `and ${session.historyFile}` : "for all tabs"];
  return {
    ...live,
    choice,
    setChoice,
    isOfCalls,
    requests,
    menu,
    setMenu,
    dialog,
    setDialog,
    closeDialog,
    compared,
    setCompared,
    note,
    detail,
    opened,
    listeners,
    listener: listeners.find(({ id }) => id === opened?.listenerId),
    forcedHere: forced.find(({ listenerId }) => listenerId === opened?.listenerId),
    nowMs,
    isEmpty,
    count,
    kept,
    actions: actionsOf(api, { requests, listeners, opened, attempt, isOfCalls, setChoice, closeDialog }),
    /** Out of what is open: a menu, a filter, a request. */
    leave() {
      if (menu) setMenu(undefined);
      else if (isNarrowed(filter)) requests.setFilter(NO_FILTER);
      else choose(undefined);
    },
  };
}
