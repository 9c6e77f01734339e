// Runs parsers under the fuzzer in a thread, and ends the thread where one hangs.
import { Worker } from "node:worker_threads";
import type { Found, Order } from "./worker.js";

/** A single input that takes longer than this hangs, on however busy a machine. */
const HANGS_MS = 60_000;
const MAX_BYTES = 1 << 20;

/**
 * Draws inputs for each parser until one breaks a promise, or its runs or its time are over. A parser that hangs or ends
 * the thread is the last of the list.
 */
export async function fuzz(
  order: Omit<Order, "shared">,
  onProgress: (name: string, inputs: number) => void = () => {},
): Promise<readonly Found[]> {
  const shared = new SharedArrayBuffer(8 + MAX_BYTES);
  const counts = new Int32Array(shared, 0, 2);
  const worker = new Worker(new URL("worker.mjs", import.meta.url), {
    workerData: { ...order, shared } satisfies Order,
    execArgv: ["--conditions=source"],
  });
  const all: Found[] = [];
  let name = "";
  let [seen, since] = [-1, Date.now()];
  let watch: NodeJS.Timeout | undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      const ends = (fault: string) => {
        const input = new Uint8Array(shared, 8, Atomics.load(counts, 1)).slice();
        all.push({ name, inputs: Atomics.load(counts, 0), fault, input });
        resolve();
      };
      worker.on("message", (message: Found | { begins: string } | "done") => {
        if (message === "done") resolve();
        else if ("begins" in message) name = message.begins;
        else all.push(message);
      });
      worker.on("error", (error: Error) =>
        Atomics.load(counts, 0) === 0 ? reject(error) : ends(`ends the thread: ${error.stack}`),
      );
      worker.on("exit", (code) => reject(new Error(`the thread ended with ${code} at ${name}`)));
      watch = setInterval(() => {
        const inputs = Atomics.load(counts, 0);
        if (inputs !== seen) [seen, since] = [inputs, Date.now()];
        else if (inputs > 0 && Date.now() - since > HANGS_MS)
          ends(`does not end within ${HANGS_MS / 1_000} s`);
        onProgress(name, inputs);
      }, 1_000);
    });
  } finally {
    clearInterval(watch);
    await worker.terminate();
  }
  return all;
}
