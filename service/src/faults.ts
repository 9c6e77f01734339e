import type { Request, Response } from "express";
import { sendJson } from "./api/error-answers.js";
import type { OperationId } from "./api/operations.js";

/** What goes wrong with an operation on purpose. */
export interface Fault {
  /** Answers with this status, from 400 to 599, instead of the operation. */
  status?: number | undefined;
  /** Waits first, in milliseconds. */
  delayMs?: number | undefined;
  /** Cuts the connection instead of answering. */
  disconnect?: boolean | undefined;
  /** How many requests are hit; all of them by default. */
  times?: number | undefined;
}

/** Faults by operation, which can be set while the service runs. */
export interface Faults {
  /** Replaces what was set for the operation; `undefined` takes it away. */
  set(operation: OperationId, fault: Fault | undefined): void;
  /** Waits and fails as was asked for; true if the request has been answered by that. */
  answered(operation: OperationId, req: Request, res: Response): Promise<boolean>;
  /** Ends the waits under way. */
  stop(): void;
}

/** Faults, and a latency every operation has. */
export function createFaults(latencyMs = 0): Faults {
  checkWait("latencyMs", latencyMs);
  const faults = new Map<OperationId, Fault & { left: number }>();
  const waits = new Set<() => void>();

  const wait = (ms: number) =>
    new Promise<void>((resolve) => {
      const done = () => {
        clearTimeout(timer);
        waits.delete(done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      waits.add(done);
    });

  return {
    set(operation, fault) {
      faults.delete(operation);
      if (!fault) return;
      const { status, delayMs = 0, times = Number.POSITIVE_INFINITY } = fault;
      if (status !== undefined && !(Number.isInteger(status) && status >= 400 && status <= 599)) {
        throw new RangeError("status must be 400 to 599");
      }
      checkWait("delayMs", delayMs);
      if (!(times > 0)) throw new RangeError("times must be more than 0");
      faults.set(operation, { ...fault, left: times });
    },
    async answered(operation, req, res) {
      const fault = faults.get(operation);
      if (fault) {
        fault.left -= 1;
        if (fault.left <= 0) faults.delete(operation);
      }
      const ms = latencyMs + (fault?.delayMs ?? 0);
      if (ms > 0) await wait(ms);
      if (fault?.disconnect) {
        req.socket.destroy();
        return true;
      }
      if (fault?.status === undefined) return false;
      sendJson(fault.status, { code: 14, message: "This fault was asked for.", details: [] }, req, res);
      return true;
    },
    stop() {
      for (const done of waits) done();
    },
  };
}

function checkWait(name: string, ms: number): void {
  if (!(Number.isFinite(ms) && ms >= 0)) throw new RangeError(`${name} must be 0 or more`);
}
