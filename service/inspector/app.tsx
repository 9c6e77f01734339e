import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { ReplayOrder } from "../src/inspector/contract.js";
import { CopyMenu } from "./actions/copy-menu.js";
import { EditDialog } from "./actions/edit-dialog.js";
import { ExportDialog } from "./actions/export-dialog.js";
import { ForceDialog } from "./actions/force-dialog.js";
import { HelpDialog } from "./actions/help-dialog.js";
import { ReplayMenu } from "./actions/replay-menu.js";
import { CallsView } from "./calls/calls-view.js";
import { ControlDialog } from "./control/control-dialog.js";
import { Detail } from "./detail/request-detail.js";
import { useDetail } from "./detail/use-detail.js";
import { EmptyState } from "./frame/empty-state.js";
import { type Note, Toast } from "./frame/toast.js";
import { TopBar } from "./frame/top-bar.js";
import { useChoice } from "./frame/use-choice.js";
import { useKeys } from "./frame/use-keys.js";
import { useLive } from "./frame/use-live.js";
import { ViewLinks } from "./frame/view-links.js";
import { type Filter, NO_FILTER, ofSource, ofStatus } from "./list/filter.js";
import { FilterBar } from "./list/filter-bar.js";
import { RequestList } from "./list/request-list.js";
import { requestParts } from "./list/request-row.js";
import { steppedFrom } from "./list/row-window.js";
import { searchRequests, useSearch } from "./list/use-search.js";
import type { Api } from "./live/api.js";
import { Icon } from "./parts/icon.js";
import { TimeLine } from "./time-line/time-line.js";

type MenuName = "replay" | "copy" | "file";
type DialogName = "help" | "force" | "edit" | "export" | "control";

const NOTE_MS = 5_000;

/** The whole page. */
export function App({ api }: { api: Api }) {
  const { session, clockOffsetMs, connected, isLockedOut, rows, forced, calls } = useLive(api);
  const [choice, setChoice] = useChoice();
  const isOfCalls = choice.view === "calls" && session?.hasCalls === true;
  const chosen = isOfCalls ? undefined : choice.n;
  const choose = useCallback((n: number | undefined) => setChoice({ view: "requests", n }), [setChoice]);
  const [filter, setFilter] = useState<Filter>(NO_FILTER);
  const [menu, setMenu] = useState<MenuName>();
  const [dialog, setDialog] = useState<DialogName>();
  const [note, setNote] = useState<Note>();
  const search = useRef<HTMLInputElement>(null);
  const file = useRef<HTMLInputElement>(null);

  const find = useCallback((q: string) => searchRequests(api, q), [api]);
  const found = useSearch(find, filter.text, rows) ?? rows;
  const ofOne = useMemo(() => ofSource(found, filter, ({ listenerId }) => listenerId), [found, filter]);
  const shown = useMemo(() => ofStatus(ofOne, filter), [ofOne, filter]);
  const row = useMemo(() => rows.find(({ n }) => n === chosen), [rows, chosen]);
  const detail = useDetail(api.request, chosen, row);
  const listeners = session?.listeners ?? [];
  const listener =
    detail && detail !== "gone" ? listeners.find(({ id }) => id === detail.listenerId) : undefined;
  const nowMs = useCallback(() => Date.now() + clockOffsetMs, [clockOffsetMs]);

  useEffect(() => {
    const timer = setTimeout(() => setNote(undefined), NOTE_MS);
    return () => clearTimeout(timer);
  }, [note]);

  // Where list and detail stand side by side, the newest request is open at first.
  const isEmpty = rows.length === 0;
  useEffect(() => {
    if (isOfCalls || chosen !== undefined || !rows[0]) return;
    if (matchMedia("(min-width: 900px)").matches) choose(rows[0].n);
  }, [isEmpty, isOfCalls]);

  /** Runs what may fail, and says so. */
  const attempt = async (work: () => Promise<string | undefined>) => {
    try {
      const text = await work();
      if (text !== undefined) setNote({ text });
    } catch (error) {
      setNote({ text: error instanceof Error ? error.message : String(error), isProblem: true });
    }
  };
  const copy = (text: string, what: string) =>
    attempt(async () => {
      await navigator.clipboard.writeText(text);
      return `Copied: ${what}`;
    });
  const replay = (order: ReplayOrder) =>
    attempt(async () => {
      if (chosen === undefined) return undefined;
      setDialog(undefined);
      const { status, kind, n } = await api.replay(chosen, order);
      if (n !== undefined) choose(n);
      return `Replay (${kind}) of #${chosen}: ${status}`;
    });
  const importFile = (input: HTMLInputElement) =>
    attempt(async () => {
      const [picked] = input.files ?? [];
      input.value = "";
      if (!picked) return undefined;
      const { imported, skipped } = await api.importFile(picked);
      return `${imported} imported${skipped > 0 ? `, ${skipped} skipped` : ""}`;
    });

  const move = (by: number) => {
    const to = steppedFrom(shown, chosen, by);
    if (to !== undefined) choose(to);
  };
  const toggle = (name: MenuName) => (open: boolean) => setMenu(open ? name : undefined);
  const isChosen = detail !== undefined && detail !== "gone";
  useKeys({
    "?": () => setDialog("help"),
    ...(session?.hasCalls && { v: () => setChoice({ view: isOfCalls ? "requests" : "calls" }) }),
    ...(!isOfCalls && {
      j: () => move(1),
      k: () => move(-1),
      "/": () => search.current?.focus(),
      r: () => isChosen && setMenu("replay"),
      c: () => isChosen && setMenu("copy"),
      Escape: () => (menu ? setMenu(undefined) : choose(undefined)),
    }),
  });

  const actions = isChosen && (
    <>
      <ReplayMenu
        detail={detail}
        listener={listener}
        open={menu === "replay"}
        onToggle={toggle("replay")}
        nowMs={nowMs}
        onReplay={replay}
        onEdit={() => setDialog("edit")}
      />
      <CopyMenu
        detail={detail}
        listener={listener}
        open={menu === "copy"}
        onToggle={toggle("copy")}
        nowMs={nowMs}
        onCopy={copy}
      />
    </>
  );
  const close = () => setDialog(undefined);
  const requestItems = [
    {
      label: "Export …",
      note: "what the list shows",
      disabled: shown.length === 0,
      run: () => setDialog("export"),
    },
    { label: "Import …", note: "JSON Lines or HAR", run: () => file.current?.click() },
    {
      label: "Clear the list",
      note: session?.historyFile ? `and ${session.historyFile}` : "for all tabs",
      disabled: isEmpty,
      run: () =>
        attempt(async () => {
          await api.clear();
          choose(undefined);
          return "Cleared";
        }),
    },
  ];
  const callItems = [
    {
      label: "Clear the list",
      note: "for all tabs; the service's journal stays",
      disabled: calls.length === 0,
      run: () =>
        attempt(async () => {
          await api.clearCalls();
          setChoice({ view: "calls" });
          return "Cleared";
        }),
    },
  ];

  return (
    <div class={`page ${choice.n === undefined ? "" : "has-choice"}`}>
      <TopBar
        session={session}
        connected={connected && !isLockedOut}
        forced={forced}
        menu={menu === "file"}
        onMenu={toggle("file")}
        views={
          session?.hasCalls && <ViewLinks view={choice.view} requests={rows.length} calls={calls.length} />
        }
        items={isOfCalls ? callItems : requestItems}
        onForce={() => setDialog("force")}
        onControl={isOfCalls && session.controlled ? () => setDialog("control") : undefined}
        onStopForcing={(id) => attempt(async () => void (await api.stopForcing(id)))}
        onCopy={copy}
        onHelp={() => setDialog("help")}
      />
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
          <EmptyState listeners={listeners} onCopy={copy} />
        </main>
      ) : (
        <main>
          <section class="master" aria-label="Requests">
            <TimeLine rows={ofOne} nowMs={nowMs} />
            <FilterBar
              filter={filter}
              rows={ofOne}
              sources={{ label: "Listener", all: "All listeners", ids: listeners.map(({ id }) => id) }}
              search={search}
              onChange={(change) => setFilter({ ...filter, ...change })}
            />
            <RequestList
              label="Requests"
              rows={shown}
              parts={requestParts}
              chosen={chosen}
              onChoose={choose}
              onMove={move}
            />
            {session && shown.length === 0 && <p class="nothing note">Nothing matches.</p>}
          </section>
          <section class="detail" aria-label="The chosen request" tabIndex={-1}>
            <button type="button" class="back quiet" onClick={() => choose(undefined)}>
              <Icon name="back" /> Requests
            </button>
            {isChosen && <Detail key={detail.n} detail={detail} actions={actions} onChoose={choose} />}
            {detail === "gone" && <p class="nothing note">Request #{chosen} is not kept any more.</p>}
            {chosen === undefined && <p class="nothing note">Choose a request, or press j.</p>}
          </section>
        </main>
      )}
      <Toast note={note} />
      {dialog === "help" && <HelpDialog version={session?.version ?? ""} onClose={close} />}
      {dialog === "export" && <ExportDialog api={api} filter={filter} count={shown.length} onClose={close} />}
      {dialog === "control" && session?.controlled && (
        <ControlDialog api={api} operations={session.controlled} onClose={close} />
      )}
      {dialog === "edit" && isChosen && (
        <EditDialog detail={detail} canSign={listener?.canSign === true} onSend={replay} onClose={close} />
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
