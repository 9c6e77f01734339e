// One server process among several: a receiver, on a port of its own, over each store it is told of. Its parent
// hears of every request and every run, and says how each run ends; until then the run holds the event's id.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { toNodeListener } from "hookproof/node";
import { createReceiver } from "hookproof/receiver";
import { openReplayStore, type StorePlace } from "../kit/open-replay-store.js";
import { LISTENER } from "../kit/signed-request.js";

/** What it is started with, as JSON. */
export interface CopiesProcessOptions {
  readonly places: readonly StorePlace[];
  readonly reservationMs?: number;
}

/** What it tells its parent. */
export type CopiesReport =
  | { readonly event: "listening"; readonly urls: readonly string[] }
  | { readonly event: "request" }
  | { readonly event: "run"; readonly run: number };

/** How its parent ends a run. */
export interface RunOutcome {
  readonly run: number;
  readonly isAccepted: boolean;
}

const { places, reservationMs } = JSON.parse(process.argv[2] ?? "") as CopiesProcessOptions;
const tell = (report: CopiesReport) => process.send?.(report);

const ends: ((isAccepted: boolean) => void)[] = [];
process.on("message", ({ run, isAccepted }: RunOutcome) => ends[run]?.(isAccepted));
process.once("disconnect", () => process.exit());

async function serveFrom(place: StorePlace): Promise<string> {
  const replayStore = openReplayStore(place, reservationMs);
  await replayStore.reserve("lst_warm_up", String(process.pid));
  const run = () =>
    new Promise<void>((resolve, reject) => {
      const end = (isAccepted: boolean) => (isAccepted ? resolve() : reject(new Error("the disk is full")));
      tell({ event: "run", run: ends.push(end) - 1 });
    });
  // The copies wait for the run for as long as it takes them all to arrive, on a machine however busy.
  const receiver = createReceiver({ listener: LISTENER, replayStore, inFlightWaitMs: 60_000 });
  const listener = toNodeListener(receiver, run);
  const server = createServer((request, response) => {
    tell({ event: "request" });
    void listener(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

tell({ event: "listening", urls: await Promise.all(places.map(serveFrom)) });
