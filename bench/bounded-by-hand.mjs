// A request sent by hand under the sender's own promises, with Node alone: the least that keeps all of them.
import { createHash } from "node:crypto";
import { Agent, request } from "node:http";

const IDLE_MS = 30_000;
const TOTAL_MS = 10_000;
const MAX_AHEAD_BYTES = 65_536;
const MAX_ANSWER_BYTES = 16_384;
const MAX_INFORMATION = 20;
const REMEMBERED_IDS = 10_000;
const ENTRY_BYTES = 36 + 32;

/** Posts bytes with a limit for everything, resolves with status and body, and refuses what is no answer. */
export function boundedPoster(url) {
  const agent = new Agent({ keepAlive: true });
  agent.keepSocketAlive = (socket) => {
    socket.setKeepAlive(true, 1_000);
    socket.unref();
    socket.on("data", destroy);
    socket.setTimeout(IDLE_MS);
    return true;
  };
  const { reuseSocket } = agent;
  agent.reuseSocket = (socket, sent) => {
    socket.setTimeout(0);
    socket.off("data", destroy);
    reuseSocket.call(agent, socket, sent);
  };
  const { hostname: host, host: authority, port, pathname: path } = new URL(url);
  return (bytes, headers) =>
    new Promise((resolve, reject) => {
      const lines = ["Host", authority];
      for (const name in headers) lines.push(name, headers[name]);
      lines.push("Content-Length", String(bytes.length), "User-Agent", "by-hand/1", "Accept", "*/*");
      const sent = request({ host, port, path, method: "POST", agent, headers: lines });
      const refuse = (reason) => {
        settle();
        sent.destroy();
        reject(reason);
      };
      const timer = setTimeout(() => refuse(new Error("no answer in time")), TOTAL_MS);
      const watch = watched(sent, refuse);
      const settle = () => {
        clearTimeout(timer);
        unwatch(watch);
      };
      let informed = 0;
      sent.on("error", refuse);
      sent.on("information", () => ++informed > MAX_INFORMATION && refuse(new Error("too much ahead")));
      sent.on("upgrade", () => refuse(new Error("no answer")));
      sent.on("response", (response) => {
        unwatch(watch);
        const chunks = [];
        let length = 0;
        response.on("data", (chunk) => {
          chunks.push(chunk);
          length += chunk.length;
          if (length > MAX_ANSWER_BYTES) refuse(new Error("too long an answer"));
        });
        response.on("error", refuse);
        response.on("end", () => {
          settle();
          resolve({
            status: response.statusCode,
            body: chunks.length === 1 ? chunks[0] : Buffer.concat(chunks),
          });
        });
      });
      sent.end(bytes);
    });
}

function destroy() {
  this.destroy();
}

/** Requests that wait for an answer; an array, as a Set keeps what was deleted from it alive. */
const watches = [];

function watched(sent, refuse) {
  const watch = { sent, refuse, limit: undefined, place: watches.length };
  watches.push(watch);
  return watch;
}

function unwatch(watch) {
  if (watch.place < 0) return;
  const last = watches.pop();
  if (last !== watch) {
    watches[watch.place] = last;
    last.place = watch.place;
  }
  watch.place = -1;
}

setInterval(() => {
  for (const watch of [...watches]) {
    const read = watch.sent.socket?.bytesRead ?? 0;
    watch.limit ??= read + MAX_AHEAD_BYTES;
    if (read > watch.limit) watch.refuse(new Error("too much ahead"));
  }
}, 20).unref();

/** Remembers the last ids with a hash of their bytes. */
export function idMemory() {
  const ring = Buffer.alloc(REMEMBERED_IDS * ENTRY_BYTES);
  let count = 0;
  return (id, bytes) => {
    const start = (count++ % REMEMBERED_IDS) * ENTRY_BYTES;
    ring.latin1Write(id, start);
    createHash("sha256")
      .update(bytes)
      .digest()
      .copy(ring, start + 36);
  };
}

/** Throws for what JSON would empty or change without a word. */
export function checkJson(value) {
  if (typeof value === "string") {
    if (!value.isWellFormed()) throw new TypeError("cut text");
  } else if (typeof value === "number") {
    if (!Number.isFinite(value)) throw new TypeError("no number of JSON");
  } else if (Array.isArray(value)) {
    for (const item of value) checkJson(item);
  } else if (typeof value === "object" && value !== null) {
    if (Object.getPrototypeOf(value) !== Object.prototype) throw new TypeError("an object with a class");
    for (const name in value) checkJson(value[name]);
  } else if (typeof value === "function" || typeof value === "symbol" || typeof value === "bigint")
    throw new TypeError("not in JSON");
}
