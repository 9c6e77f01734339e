// One server process among several: a receiver over the store it is told of. Its parent hears of every request
// and every run, and says how each run ends; until then the run holds the event's id.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { toNodeListener } from "hookproof/node";
import { createReceiver } from "hookproof/receiver";
import { openReplayStore } from "../support/open-replay-store.js";
import { LISTENER } from "../support/signed-request.js";

/** What it is started with, as JSON. */
export interface CopiesProcessOptions {
  readonly place: Parameters<typeof openReplayStore>[0];
  readonly reservationMs?: number;
}

/** What it tells its parent. */
export type CopiesReport =
  | { readonly event: "listening"; readonly url: string }
  | { readonly event: "request" }
  | { readonly event: "run"; readonly run: number };

/** How its parent ends a run. */
export interface RunOutcome {
  readonly run: number;
  readonly isAccepted: boolean;
}

const { place, reservationMs } = JSON.parse(process.argv[2] ?? "") as CopiesProcessOptions;
const tell = (report: CopiesReport) => process.send?.(report);

const ends: ((isAccepted: boolean) => void)[] = [];
process.on("message", ({ run, isAccepted }: RunOutcome) => ends[run]?.(isAccepted));
process.once("disconnect", () => process.exit());

const replayStore = openReplayStore(place, reservationMs);
await replayStore.reserve("lst_warm_up", String(process.pid));
const listener = toNodeListener(
  createReceiver({ listener: LISTENER, replayStore }),
  () =>
    new Promise<void>((resolve, reject) => {
      const end = (isAccepted: boolean) => (isAccepted ? resolve() : reject(new Error("the disk is full")));
      tell({ event: "run", run: ends.push(end) - 1 });
    }),
);
const server = createServer((request, response) => {
  tell({ event: "request" });
  void listener(request, response);
});
server.listen(0, "127.0.0.1", () => {
  tell({ event: "listening", url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
});
