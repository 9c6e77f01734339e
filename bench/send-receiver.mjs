// The receiver of the send bench, in a process of its own: reads the body, answers 200.
import { createServer } from "node:http";

// Connections outlive the other cases' turns, as bare transports cannot cope with one that closed meanwhile.
const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  request.on("data", () => {});
  request.on("end", () => response.end("{}"));
});
server.listen(0, "127.0.0.1", () => process.send(server.address().port));
process.on("disconnect", () => process.exit());
