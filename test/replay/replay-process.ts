// One process among several: opens the store it is told of, asks for one id many times at once when its
// parent says so, and tells how many of them were reserved. Then it lives on with its reservation until killed.
import { openReplayStore, type StorePlace } from "../kit/open-replay-store.js";

const [kind, where = "", space = ""] = process.argv.slice(2);
const store = openReplayStore({ kind: kind as StorePlace["kind"], where, space });
await store.reserve("lst_warm_up", String(process.pid));
process.send?.("ready");
process.on("message", async (eventId: string) => {
  const asked = Array.from({ length: 100 }, () => store.reserve("lst_1", eventId));
  const results = await Promise.all(asked);
  process.send?.(results.flatMap((result) => (result.state === "reserved" ? [result.reservation] : [])));
});
