// The whole page of the inspector.
import { useRef } from "preact/hooks";
import { Dialogs } from "./frame/dialogs.js";
import { MainView } from "./frame/main-view.js";
import { RestartNote } from "./frame/restart-note.js";
import { Toast } from "./frame/toast.js";
import { TopBar } from "./frame/top-bar.js";
import { useKeys } from "./frame/use-keys.js";
import { type PageState, usePage } from "./frame/use-page.js";
import { ViewLinks } from "./frame/view-links.js";
import type { Api } from "./live/api.js";

/** The whole page. */
export function App({ api }: { api: Api }) {
  const page = usePage(api);
  const { session, restarts, isOfCalls, choice, requests, dialog, actions, count, kept } = page;
  const search = useRef<HTMLInputElement>(null);
  const file = useRef<HTMLInputElement>(null);
  useKeys(keysOf(page, () => search.current?.focus()));
  return (
    <div class={`page ${(isOfCalls ? choice.n : requests.chosen) === undefined ? "" : "has-choice"}`}>
      <Bar page={page} onImport={() => file.current?.click()} />
      <RestartNote restarts={restarts} historyFile={session?.historyFile} />
      <input
        ref={file}
        type="file"
        hidden
        aria-label="File to import"
        onChange={(event) => actions.importFile(event.currentTarget)}
      />
      <MainView api={api} page={page} search={search} />
      <Toast note={page.note} />
      <Dialogs
        name={dialog}
        api={api}
        session={session}
        requests={requests}
        opened={page.opened}
        listener={page.listener}
        actions={actions}
        clearing={{
          what: `${count} ${isOfCalls ? "calls" : count === 1 ? "request" : "requests"}`,
          note: kept,
        }}
        onClose={page.closeDialog}
      />
    </div>
  );
}

function Bar({ page, onImport }: { page: PageState; onImport(): void }) {
  const { session, connected, isLockedOut, forced, menu, setMenu, setDialog, isOfCalls, choice } = page;
  const { rows, calls, requests, actions, count, kept } = page;
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
      disabled: requests.shown.length === 0,
      run: () => setDialog("export"),
    },
    { label: "Import …", note: "JSON Lines or HAR", run: onImport },
    clearItem,
  ];
  return (
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
      onTest={isOfCalls ? undefined : actions.testAtOnce}
      onOtherTest={() => setDialog("test")}
      onForce={() => setDialog("force")}
      onControl={isOfCalls && session?.controlled ? () => setDialog("control") : undefined}
      onStopForcing={actions.stopForcing}
      onCopy={actions.copy}
      onHelp={() => setDialog("help")}
    />
  );
}

function keysOf(page: PageState, toSearch: () => void): Record<string, () => void> {
  const { session, isOfCalls, setChoice, setDialog, setMenu, requests, opened, actions, leave } = page;
  return {
    "?": () => setDialog("help"),
    ...(session?.hasCalls && { v: () => setChoice({ view: isOfCalls ? "requests" : "calls" }) }),
    ...(!isOfCalls && {
      j: () => requests.move(1),
      k: () => requests.move(-1),
      "/": toSearch,
      r: () => opened && setMenu("replay"),
      c: () => opened && setMenu("copy"),
      p: () => opened && actions.pin(),
      f: requests.follow,
      Escape: leave,
    }),
  };
}
