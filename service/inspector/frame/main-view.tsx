// What stands below the bar: requests, calls, or what to do first.
import type { Ref } from "preact";
import { RequestActions } from "../actions/request-actions.js";
import { CallsView } from "../calls/calls-view.js";
import { RequestsView } from "../list/requests-view.js";
import type { Api } from "../live/api.js";
import { EmptyState } from "./empty-state.js";
import { LockedOut } from "./locked-out.js";
import type { PageState } from "./use-page.js";

interface MainProps {
  readonly api: Api;
  readonly page: PageState;
  readonly search: Ref<HTMLInputElement>;
}

/** The part of the page below its bar. */
export function MainView({ api, page, search }: MainProps) {
  const { isLockedOut, isOfCalls, session, isEmpty, rows, calls, choice, setChoice } = page;
  const { requests, listeners, detail, compared, setCompared, nowMs, actions } = page;
  if (isLockedOut) return <LockedOut />;
  if (isOfCalls)
    return (
      <CallsView
        api={api}
        rows={calls}
        origin={listeners[0] && new URL(listeners[0].url).origin}
        chosen={choice.n}
        nowMs={nowMs}
        onChoose={(n) => setChoice({ view: "calls", n })}
        onCopy={actions.copy}
      />
    );
  if (session && isEmpty)
    return (
      <main class="alone">
        <EmptyState listeners={listeners} onTest={actions.testAtOnce} onCopy={actions.copy} />
      </main>
    );
  return (
    <RequestsView
      api={api}
      rows={rows}
      requests={requests}
      listeners={listeners}
      detail={detail}
      actions={<OpenActions page={page} />}
      search={search}
      compared={compared}
      nowMs={nowMs}
      onCompare={setCompared}
      onNote={actions.note}
      onCopy={actions.copy}
    />
  );
}

function OpenActions({ page }: { page: PageState }) {
  const { opened, listener, forcedHere, menu, setMenu, setDialog, setCompared, nowMs, actions, requests } =
    page;
  if (!opened) return null;
  return (
    <RequestActions
      detail={opened}
      listener={listener}
      forced={forcedHere}
      menu={menu}
      nowMs={nowMs}
      onMenu={setMenu}
      onReplay={actions.replay}
      onEdit={() => setDialog("edit")}
      onCopy={actions.copy}
      onPin={actions.pin}
      onCompare={() => {
        requests.choose(opened.n);
        setCompared(opened.n);
      }}
    />
  );
}
