// @ts-check
// Where does the processor time of an operation go? Runs it with V8's profiler and writes a flame graph, the profile
// itself (for DevTools), and the ten dearest functions: npm run profile -- <operation> [--seconds 5]
import { fork } from "node:child_process";
import { once } from "node:events";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { operations } from "./operations.mjs";
import { escaped } from "./plot.mjs";

const WIDTH = 1200;
const ROW = 18;
/** Narrower boxes cannot be seen. */
const MIN_WIDTH = 0.4;
const WARM_UP_MS = 1_000;
/** Time in which nothing ran. */
const IDLE = new Set(["(idle)", "(program)"]);

/**
 * A function and what it called, merged over all the places that called it in the same way.
 *
 * @typedef {{ name: string, place: string, micros: number, own: number, callees: Map<string, Frame> }} Frame
 */

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { seconds: { type: "string", default: "5" } },
});
const [operation = "", ...more] = positionals;
if (!Object.hasOwn(operations, operation) || more.length > 0 || !(Number(values.seconds) > 0)) {
  console.error(
    `npm run profile -- <operation> [--seconds 5]. Operations: ${Object.keys(operations).join(", ")}`,
  );
  process.exit(2);
}
if (operation === "start") {
  console.error(
    "start runs in processes of its own, which this profiler does not see: node --cpu-prof profiles one.",
  );
  process.exit(2);
}
const root = join(import.meta.dirname, "..");
const folder = join(root, "profiles");
mkdirSync(folder, { recursive: true });
const file = join(folder, `${operation}.cpuprofile`);
const { root: graph, perOperation } = await profiled();
writeFileSync(join(folder, `${operation}.svg`), flameGraph(graph));
console.log(`${operation}: ${perOperation.toFixed(1)} µs of processor time each, with the profiler\n`);
console.log("  of it  function");
for (const { name, place, own } of dearest(graph).slice(0, 10))
  console.log(`  ${((100 * own) / graph.micros).toFixed(1).padStart(4)} %  ${name}  ${place}`);
console.log(`\n${relative(process.cwd(), join(folder, `${operation}.svg`))} is the flame graph`);

/** Runs the operation under the profiler. The warm-up is in the graph too, and not in the time of one operation. */
async function profiled() {
  const receiver = fork(new URL("send-receiver.mjs", import.meta.url));
  const [port] = await once(receiver, "message");
  const profiles = mkdtempSync(join(tmpdir(), "hookproof-profile-"));
  const child = fork(new URL("against-case.mjs", import.meta.url), [operation, String(port)], {
    execArgv: ["--cpu-prof", "--cpu-prof-dir", profiles, "--cpu-prof-interval", "500"],
  });
  await once(child, "message");
  let perOperation = 0;
  for (const roundMs of [WARM_UP_MS, 1000 * Number(values.seconds)]) {
    child.send({ roundMs });
    const [{ cpuMicros }] = await once(child, "message");
    perOperation = cpuMicros;
  }
  const ended = once(child, "exit");
  child.disconnect();
  await ended;
  receiver.disconnect();
  const [written = ""] = readdirSync(profiles);
  renameSync(join(profiles, written), file);
  rmSync(profiles, { recursive: true });
  return { root: callsOf(JSON.parse(readFileSync(file, "utf8"))), perOperation };
}

/**
 * The tree of calls with the time of each, without the time in which nothing ran.
 *
 * @param {{ nodes: { id: number, callFrame: { functionName: string, url: string, lineNumber: number },
 *   children?: number[] }[], samples: number[], timeDeltas: number[] }} profile
 */
function callsOf({ nodes, samples, timeDeltas }) {
  const own = new Map();
  for (const [index, id] of samples.entries())
    own.set(id, (own.get(id) ?? 0) + Math.max(0, timeDeltas[index] ?? 0));
  const byId = new Map(nodes.map((node) => [node.id, node]));
  /** @type {Frame} */
  const root = { name: operation, place: "", micros: 0, own: 0, callees: new Map() };
  /** @type {{ id: number, into: Frame }[]} */
  const waiting = (nodes[0]?.children ?? []).map((id) => ({ id, into: root }));
  const order = [root];
  const above = new Map();
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const node = byId.get(next.id);
    if (!node || IDLE.has(node.callFrame.functionName)) continue;
    const name = node.callFrame.functionName || "(anonymous)";
    const place = placeOf(node.callFrame);
    const key = `${name} ${place}`;
    let frame = next.into.callees.get(key);
    if (!frame) {
      frame = { name, place, micros: 0, own: 0, callees: new Map() };
      next.into.callees.set(key, frame);
      above.set(frame, next.into);
      order.push(frame);
    }
    frame.own += own.get(node.id) ?? 0;
    for (const id of node.children ?? []) waiting.push({ id, into: frame });
  }
  // Who calls stands before whom it calls.
  for (const frame of order.reverse()) {
    frame.micros += frame.own;
    const caller = above.get(frame);
    if (caller) caller.micros += frame.micros;
  }
  return root;
}

/** @param {{ url: string, lineNumber: number }} frame */
function placeOf({ url, lineNumber }) {
  if (!url) return "";
  const path = url.startsWith("file:") ? relative(root, fileURLToPath(url)) : url;
  return `${path.startsWith("..") ? basename(path) : path}:${lineNumber + 1}`;
}

/** Functions by their own time, wherever they were called. @param {Frame} frame */
function dearest(frame) {
  /** @type {Map<string, { name: string, place: string, own: number }>} */
  const all = new Map();
  const waiting = [frame];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const key = `${next.name} ${next.place}`;
    const known = all.get(key) ?? { name: next.name, place: next.place, own: 0 };
    known.own += next.own;
    all.set(key, known);
    waiting.push(...next.callees.values());
  }
  return [...all.values()].sort((a, b) => b.own - a.own);
}

/** Boxes as wide as their time, callers above whom they call. @param {Frame} whole */
function flameGraph(whole) {
  const boxes = [];
  let depth = 0;
  const waiting = [{ frame: whole, left: 0, row: 0 }];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const { frame, left, row } = next;
    const width = (WIDTH * frame.micros) / whole.micros;
    if (width < MIN_WIDTH) continue;
    depth = Math.max(depth, row + 1);
    const words = `${frame.name} ${frame.place} ${((100 * frame.micros) / whole.micros).toFixed(1)} %`;
    const label = frame.name.slice(0, Math.floor(width / 7));
    const y = row * ROW;
    boxes.push(
      `<g><title>${escaped(words)}</title><rect class="${kindOf(frame)}" x="${left.toFixed(1)}" y="${y}" width="${width.toFixed(1)}" height="${ROW - 1}"/>${label.length > 2 ? `<text x="${(left + 3).toFixed(1)}" y="${y + 13}">${escaped(label)}</text>` : ""}</g>`,
    );
    let at = left;
    for (const callee of [...frame.callees.values()].sort((a, b) => b.micros - a.micros)) {
      waiting.push({ frame: callee, left: at, row: row + 1 });
      at += (WIDTH * callee.micros) / whole.micros;
    }
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${depth * ROW}" width="${WIDTH}" height="${depth * ROW}" role="img" aria-label="${escaped(operation)}: where its processor time goes">
<style>text { font: 11px ui-monospace, monospace; fill: #1f2328 } .ours { fill: #54aeff } .node { fill: #d1d9e0 } .engine { fill: #ffb77c } .packages { fill: #c297ff }</style>
${boxes.join("\n")}
</svg>
`;
}

/** @param {Frame} frame */
function kindOf({ name, place }) {
  if (name.startsWith("(garbage")) return "engine";
  if (place.startsWith("node:")) return "node";
  return place.startsWith("node_modules") ? "packages" : place ? "ours" : "node";
}
