// A queue over some processes that evaluate expressions.

import {
  type Answer,
  type ExpressionProcess,
  type Request,
  startExpressionProcess,
} from "./expression-process.js";
import type { Signature } from "./look-ups.js";

/** Some processes that take requests from one queue, and are started when there is more than they can take. */
export interface Lane {
  /** @param isFirst takes the place in front of all that wait */
  ask(request: Request, isFirst?: boolean): Promise<Answer>;
  /** Ends the processes. What waits, or is being evaluated, is rejected. */
  stop(): Promise<void>;
}

/** Options of `createLane`. */
interface LaneOptions {
  /** How many processes there may be. */
  readonly size: number;
  /** How much they give way to other processes of the machine: 0 to 19. */
  readonly niceness: number;
  /** The functions that the service answers. */
  readonly signatures: readonly Signature[];
}

interface QueuedRequest {
  readonly request: Request;
  resolve(answer: Answer): void;
  reject(error: unknown): void;
}

/** A lane without a process: the first one is started by the first request. */
export function createLane({ size, niceness, signatures }: LaneOptions): Lane {
  const waiting: QueuedRequest[] = [];
  const processes = new Set<ExpressionProcess>();
  const idle: ExpressionProcess[] = [];
  let starting = 0;
  let isStopped = false;

  function startNext(): void {
    while (waiting.length > 0) {
      const process = idle.pop();
      if (!process) break;
      if (process.hasEnded) processes.delete(process);
      else void perform(waiting.shift() as QueuedRequest, process);
    }
    if (waiting.length > starting && processes.size < size) void startProcess();
  }

  async function startProcess(): Promise<void> {
    const process = startExpressionProcess(niceness, signatures);
    processes.add(process);
    starting += 1;
    try {
      await process.ready;
      idle.push(process);
    } catch (error) {
      processes.delete(process);
      // Another one would not start either; a service that has stopped has said so itself.
      for (const job of waiting.splice(0)) job.reject(error);
    } finally {
      starting -= 1;
    }
    startNext();
  }

  async function perform(job: QueuedRequest, process: ExpressionProcess): Promise<void> {
    const answer = await process.ask(job.request);
    if (isStopped) return job.reject(stoppedError());
    if (process.hasEnded || answer.usedMs === Number.POSITIVE_INFINITY) processes.delete(process);
    else idle.push(process);
    job.resolve(answer);
    startNext();
  }

  return {
    ask: (request, isFirst = false) =>
      new Promise((resolve, reject) => {
        if (isStopped) return reject(stoppedError());
        waiting[isFirst ? "unshift" : "push"]({ request, resolve, reject });
        startNext();
      }),
    async stop() {
      isStopped = true;
      for (const job of waiting.splice(0)) job.reject(stoppedError());
      await Promise.all(Array.from(processes, (process) => process.stop()));
    },
  };
}

function stoppedError(): Error {
  return new Error("The service has stopped.");
}
