// The remote control of the service as a dialog.
import { useCallback, useEffect, useState } from "preact/hooks";
import type { Api, Controlled } from "../live/api.js";
import { Dialog } from "../parts/dialog.js";
import { Problem } from "../parts/problem.js";
import { ClockForm } from "./clock-form.js";
import { FaultForm } from "./fault-form.js";
import { ResetButton } from "./reset-button.js";
import { SnapshotForm } from "./snapshot-form.js";

interface ControlDialogProps {
  readonly api: Pick<Api, "controlled" | "control">;
  /** Those that a fault can be set for. */
  readonly operations: readonly string[];
  onClose(): void;
}

/** The remote control of the service: faults, clock, snapshots, reset. */
export function ControlDialog({ api, operations, onClose }: ControlDialogProps) {
  const [state, setState] = useState<Controlled>();
  const [problem, setProblem] = useState<string>();

  const attempt = useCallback(
    async (work: () => Promise<void>) => {
      try {
        await work();
        setState(await api.controlled());
        setProblem(undefined);
      } catch (error) {
        setProblem((error as Error).message);
      }
    },
    [api],
  );
  useEffect(() => void attempt(async () => {}), [attempt]);
  const change: Api["control"] = (...order) => attempt(() => api.control(...order));

  return (
    <Dialog title="Control the service" onClose={onClose}>
      <Problem text={problem} />
      {state && (
        <div class="control">
          <FaultForm faults={state.faults} operations={operations} onChange={change} />
          <ClockForm clock={state.clock} onChange={change} />
          <SnapshotForm snapshots={state.snapshots} onChange={change} />
          <ResetButton onChange={change} />
        </div>
      )}
    </Dialog>
  );
}
