// The receiver of the benches of latency, in a process of its own: notes when each event was there, and tells on demand. What
// is for `lst_poison` it refuses.
import { createServer } from "node:http";

const arrivals = [];
const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  arrivals.push([request.headers["webhook-event-id"], Number(process.hrtime.bigint()) / 1e6]);
  response.statusCode = request.url.endsWith("/lst_poison") ? 400 : 200;
  request.resume().on("end", () => response.end("{}"));
});
server.listen(0, "127.0.0.1", () => process.send(server.address().port));
process.on("message", () => process.send(arrivals.splice(0)));
process.on("disconnect", () => process.exit());
