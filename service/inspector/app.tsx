// The whole page of the inspector.
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { ReplayOrder } from "../src/inspector/contract.js";
import { ConfirmDialog } from "./actions/confirm-dialog.js";
import { EditDialog } from "./actions/edit-dialog.js";
import { ExportDialog } from "./actions/export-dialog.js";
import { ForceDialog } from "./actions/force-dialog.js";
import { HelpDialog } from "./actions/help-dialog.js";
import { type MenuName, RequestActions } from "./actions/request-actions.js";
import { CallsView } from "./calls/calls-view.js";
import { ControlDialog } from "./control/control-dialog.js";
import { useDetail } from "./detail/use-detail.js";
import { EmptyState } from "./frame/empty-state.js";
import { RestartNote } from "./frame/restart-note.js";
import { Toast } from "./frame/toast.js";
import { TopBar } from "./frame/top-bar.js";
import { useChoice } from "./frame/use-choice.js";
import { useKeys } from "./frame/use-keys.js";
import { useLive } from "./frame/use-live.js";
import { useNote } from "./frame/use-note.js";
import { ViewLinks } from "./frame/view-links.js";
import { isNarrowed, NO_FILTER } from "./list/filter.js";
import { RequestsView } from "./list/requests-view.js";
import { useRequests } from "./list/use-requests.js";
import type { Api } from "./live/api.js";

type DialogName = "help" | "force" | "edit" | "export" | "control" | "clear";

/** The whole page. */
export function App({ api }: { api: Api }) {
  const { session, clockOffsetMs, connected, isLockedOut, rows, forced, restarts, calls } = useLive(api);
  const [choice, setChoice] = useChoice();
  const isOfCalls = choice.view === "calls" && session?.hasCalls === true;
  const requests = useRequests(api, rows, {
    choice,
    setChoice,
    losses: session?.historyFile === undefined ? restarts : 0,
  });
  const { filter, shown, chosen, choose, following } = requests;
  const [menu, setMenu] = useState<MenuName>();
  const [dialog, setDialog] = useState<DialogName>();
  const [compared, setCompared] = useState<number>();
  const [note, attempt] = useNote();
  const search = useRef<HTMLInputElement>(null);
  const file = useRef<HTMLInputElement>(null);

  const row = useMemo(() => rows.find(({ n }) => n === chosen), [rows, chosen]);
  const detail = useDetail(api.request, chosen, row);
  const listeners = session?.listeners ?? [];
  const opened = detail === undefined || detail === "gone" ? undefined : detail;
  const listener = listeners.find(({ id }) => id === opened?.listenerId);
  const nowMs = useCallback(() => Date.now() + clockOffsetMs, [clockOffsetMs]);
  const isEmpty = rows.length === 0;
  const refused = useMemo(() => rows.filter(({ code }) => code !== undefined).length, [rows]);
  useEffect(() => {
    document.title = `${refused > 0 ? `${refused} refused · ` : ""}Hookproof inspector`;
  }, [refused]);
  useEffect(() => setCompared(undefined), [isEmpty, restarts]);

  const copy = (text: string, what: string) =>
    attempt(async () => {
      await navigator.clipboard.writeText(text);
      return `Copied: ${what}`;
    });
  /** Opens what the page itself has sent. */
  const open = (n: number | undefined) => n !== undefined && !following && choose(n);
  const replay = (order: ReplayOrder) =>
    attempt(async () => {
      if (chosen === undefined) return undefined;
      setDialog(undefined);
      const { status, kind, n } = await api.replay(chosen, order);
      open(n);
      return `Replay (${kind}) of #${chosen}: ${status}`;
    });
  const signing = listeners.filter(({ canSign }) => canSign);
  const tested = signing.find(({ id }) => id === filter.source) ?? signing[0];
  const test =
    tested &&
    (() =>
      attempt(async () => {
        const { status, n } = await api.sendTestEvent(tested.id);
        open(n);
        return `Test event to ${tested.id}: ${status}`;
      }));
  const mark = (change: { pinned: boolean } | { note: string }) =>
    attempt(async () => (opened ? void (await api.mark(opened.n, change)) : undefined));
  const pin = () => mark({ pinned: opened?.pinned !== true });
  const importFile = (input: HTMLInputElement) =>
    attempt(async () => {
      const [picked] = input.files ?? [];
      input.value = "";
      if (!picked) return undefined;
      const { imported, skipped } = await api.importFile(picked);
      return `${imported} imported${skipped > 0 ? `, ${skipped} skipped` : ""}`;
    });
  const clear = () =>
    attempt(async () => {
      setDialog(undefined);
      await (isOfCalls ? api.clearCalls() : api.clear());
      if (isOfCalls) setChoice({ view: "calls" });
      else requests.follow();
      return "Cleared";
    });

  const leave = () => {
    if (menu) setMenu(undefined);
    else if (isNarrowed(filter)) requests.setFilter(NO_FILTER);
    else choose(undefined);
  };
  useKeys({
    "?": () => setDialog("help"),
    ...(session?.hasCalls && { v: () => setChoice({ view: isOfCalls ? "requests" : "calls" }) }),
    ...(!isOfCalls && {
      j: () => requests.move(1),
      k: () => requests.move(-1),
      "/": () => search.current?.focus(),
      r: () => opened && setMenu("replay"),
      c: () => opened && setMenu("copy"),
      p: () => opened && pin(),
      f: requests.follow,
      Escape: leave,
    }),
  });

  const close = () => setDialog(undefined);
  const [count, kept] = isOfCalls
    ? [calls.length, "for all tabs; the service's journal stays"]
    : [rows.length, session?.historyFile ? `and ${session.historyFile}` : "for all tabs"];
  const clearItem = {
    label: "Clear the list …",
    note: kept,
    disabled: count === 0,
    run: () => setDialog("clear"),
  };
  const requestItems = [
    {
      label: "Export …",
      note: "what the list shows",
      disabled: shown.length === 0,
      run: () => setDialog("export"),
    },
    { label: "Import …", note: "JSON Lines or HAR", run: () => file.current?.click() },
    clearItem,
  ];

  return (
    <div class={`page ${(isOfCalls ? choice.n : chosen) === undefined ? "" : "has-choice"}`}>
      <TopBar
        session={session}
        connected={connected && !isLockedOut}
        forced={forced}
        menu={menu === "file"}
        onMenu={(isOpen) => setMenu(isOpen ? "file" : undefined)}
        views={
          session?.hasCalls && <ViewLinks view={choice.view} requests={rows.length} calls={calls.length} />
        }
        items={isOfCalls ? [clearItem] : requestItems}
        onTest={isOfCalls ? undefined : test}
        onForce={() => setDialog("force")}
        onControl={isOfCalls && session.controlled ? () => setDialog("control") : undefined}
        onStopForcing={(id) => attempt(async () => void (await api.stopForcing(id)))}
        onCopy={copy}
        onHelp={() => setDialog("help")}
      />
      <RestartNote restarts={restarts} historyFile={session?.historyFile} />
      <input
        ref={file}
        type="file"
        hidden
        aria-label="File to import"
        onChange={(event) => importFile(event.currentTarget)}
      />
      {isLockedOut ? (
        <main class="alone">
          <p class="nothing note">
            Open the inspector by the whole address that hookproof has printed: it ends in #t=…. Only who has
            it sees requests and signs; another start of the listener has another one.
          </p>
        </main>
      ) : isOfCalls ? (
        <CallsView
          api={api}
          rows={calls}
          chosen={choice.n}
          nowMs={nowMs}
          onChoose={(n) => setChoice({ view: "calls", n })}
          onCopy={copy}
        />
      ) : session && isEmpty ? (
        <main class="alone">
          <EmptyState listeners={listeners} onTest={test} onCopy={copy} />
        </main>
      ) : (
        <RequestsView
          api={api}
          rows={rows}
          requests={requests}
          listeners={listeners}
          detail={detail}
          actions={
            opened && (
              <RequestActions
                detail={opened}
                listener={listener}
                forced={forced.find(({ listenerId }) => listenerId === opened.listenerId)}
                menu={menu}
                nowMs={nowMs}
                onMenu={setMenu}
                onReplay={replay}
                onEdit={() => setDialog("edit")}
                onCopy={copy}
                onPin={pin}
                onCompare={() => {
                  choose(opened.n);
                  setCompared(opened.n);
                }}
              />
            )
          }
          search={search}
          compared={compared}
          nowMs={nowMs}
          onCompare={setCompared}
          onNote={(text) => mark({ note: text })}
        />
      )}
      <Toast note={note} />
      {dialog === "help" && <HelpDialog version={session?.version ?? ""} onClose={close} />}
      {dialog === "clear" && (
        <ConfirmDialog
          title={`Clear ${count} ${isOfCalls ? "calls" : count === 1 ? "request" : "requests"}?`}
          text={`They are removed ${kept}. This cannot be undone.`}
          action="Clear"
          onConfirm={clear}
          onClose={close}
        />
      )}
      {dialog === "export" && <ExportDialog api={api} filter={filter} count={shown.length} onClose={close} />}
      {dialog === "control" && session?.controlled && (
        <ControlDialog api={api} operations={session.controlled} onClose={close} />
      )}
      {dialog === "edit" && opened && (
        <EditDialog detail={opened} canSign={listener?.canSign === true} onSend={replay} onClose={close} />
      )}
      {dialog === "force" && session && (
        <ForceDialog
          listeners={listeners}
          onClose={close}
          onForce={(answer) =>
            attempt(async () => {
              setDialog(undefined);
              await api.force(answer);
              return undefined;
            })
          }
        />
      )}
    </div>
  );
}
