// The dialog that is open over the page.
import type { ListenerInfo, RequestDetail, SessionInfo } from "../../src/inspector/contract.js";
import { ConfirmDialog } from "../actions/confirm-dialog.js";
import { EditDialog } from "../actions/edit-dialog.js";
import { ExportDialog } from "../actions/export-dialog.js";
import { ForceDialog } from "../actions/force-dialog.js";
import { HelpDialog } from "../actions/help-dialog.js";
import { TestDialog } from "../actions/test-dialog.js";
import { ControlDialog } from "../control/control-dialog.js";
import type { Requests } from "../list/use-requests.js";
import type { Api } from "../live/api.js";
import type { Actions } from "./use-actions.js";

export type DialogName = "help" | "force" | "edit" | "export" | "control" | "clear" | "test";

interface DialogsProps {
  readonly name: DialogName | undefined;
  readonly api: Api;
  readonly session: SessionInfo | undefined;
  readonly requests: Requests;
  readonly opened: RequestDetail | undefined;
  readonly listener: ListenerInfo | undefined;
  readonly actions: Actions;
  /** What would be cleared, and what else goes with it. */
  readonly clearing: { readonly what: string; readonly note: string };
  onClose(): void;
}

/** The dialog that is open; nothing where none is. */
export function Dialogs(props: DialogsProps) {
  const { name, api, session, requests, opened, listener, actions, clearing, onClose } = props;
  const listeners = session?.listeners ?? [];
  const { filter, shown } = requests;
  if (name === "help") return <HelpDialog version={session?.version ?? ""} onClose={onClose} />;
  if (name === "clear")
    return (
      <ConfirmDialog
        title={`Clear ${clearing.what}?`}
        text={`They are removed ${clearing.note}. This cannot be undone.`}
        action="Clear"
        onConfirm={actions.clear}
        onClose={onClose}
      />
    );
  if (name === "export")
    return <ExportDialog api={api} filter={filter} count={shown.length} onClose={onClose} />;
  if (name === "control" && session?.controlled)
    return <ControlDialog api={api} operations={session.controlled} onClose={onClose} />;
  if (name === "edit" && opened)
    return (
      <EditDialog
        detail={opened}
        canSign={listener?.canSign === true}
        onSend={actions.replay}
        onClose={onClose}
      />
    );
  if (name === "force" && session)
    return <ForceDialog listeners={listeners} onClose={onClose} onForce={actions.force} />;
  if (name === "test" && session)
    return (
      <TestDialog
        listeners={listeners}
        examples={session.examples}
        first={actions.tested}
        onSend={actions.test}
        onClose={onClose}
      />
    );
  return null;
}
