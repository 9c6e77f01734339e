// The page's stream of events past a lost connection, without a browser.
import { expect, it } from "vitest";
import { ApiError } from "../../service/inspector/live/call.js";
import { readEventStream, type StreamEvent } from "../../service/inspector/live/event-stream.js";

/** How the page follows the server, without a browser: the server is a list of what it answers. */

const END = "end of the test";

/** Reads the answers one connection after another; each is the pieces of a stream, or a refusal. */
async function followed(...answers: readonly (readonly string[] | ApiError)[]) {
  const ended = new AbortController();
  const events: StreamEvent[] = [];
  const asked: string[] = [];
  const connections: boolean[] = [];
  let [last, refusals] = ["0", 0];
  await readEventStream({
    signal: ended.signal,
    after: () => last,
    onEvent(event) {
      last = event.id || last;
      events.push(event);
    },
    onConnection: (connected) => void connections.push(connected),
    onRefused: () => void refusals++,
    api: {
      async events(after) {
        asked.push(after);
        const answer = answers[asked.length - 1];
        if (answer === undefined) {
          ended.abort();
          throw new Error(END);
        }
        if (answer instanceof ApiError) throw answer;
        return new ReadableStream({
          start(stream) {
            for (const piece of answer) stream.enqueue(new TextEncoder().encode(piece));
            stream.close();
          },
        });
      },
    },
  });
  return { events, asked, connections, refusals };
}

it("after a connection that ended, the page asks for what came after the last event it has", async () => {
  const { events, asked, connections } = await followed(
    ['id: 7\nevent: forced\ndata: {"forced":[]}\n\n', 'id: 8\nevent: dropped\ndata: {"upTo":3}\n\n'],
    ["event: reset\ndata: {}\n\n"],
  );
  expect(events).toEqual([
    { name: "forced", id: "7", data: { forced: [] } },
    { name: "dropped", id: "8", data: { upTo: 3 } },
    { name: "reset", id: "", data: {} },
  ]);
  expect(asked).toEqual(["0", "8", "8"]);
  expect(connections).toEqual([true, false, true, false]);
});

it("an event has the id of those before it where it has none, and may come in pieces", async () => {
  const { events } = await followed([
    "id: 7\nevent: dro",
    'pped\ndata: {"upTo":3}\n',
    "\n: still here\n\nevent: of a later release\ndata: {}\n\nevent: forced\n",
    'data: {"forced":[]}\n\nid: 9\nevent: rows\ndata: {"cut off',
  ]);
  expect(events).toEqual([
    { name: "dropped", id: "7", data: { upTo: 3 } },
    { name: "forced", id: "7", data: { forced: [] } },
  ]);
});

it("a refused token is told, and the page goes on asking; another failure is none", async () => {
  const { asked, refusals, connections } = await followed(new ApiError(403, "no"), new ApiError(500, "busy"));
  expect(refusals).toBe(1);
  expect(asked).toHaveLength(3);
  expect(connections).toEqual([false, false]);
});
