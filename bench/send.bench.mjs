// @ts-check
// Sign and send, 1 KB, 50 at once, to another process: what does the library cost over its bare transport, and
// what do others cost? Each case has a process of its own; `npm ci --prefix bench` installs the peers.
import { fork } from "node:child_process";
import { once } from "node:events";
import { interleavedProcesses } from "./rounds.mjs";
import { quick, report } from "./support.mjs";

const receiver = fork(new URL("send-receiver.mjs", import.meta.url));
const [port] = await once(receiver, "message");
const limits = [
  "bare node:http",
  "node:http, signed by hand",
  "node:http, by hand to the same promises",
  "hookproof",
];
const peers = [
  "bare undici Pool",
  "undici Pool, signed by hand",
  "hookproof over undici",
  "fetch + svix",
  "got + standardwebhooks",
  "axios + stripe",
];
const names = quick ? limits : [...limits, ...peers];
const module = new URL("send-case.mjs", import.meta.url);
const results = await interleavedProcesses(
  Object.fromEntries(names.map((name) => [name, { module, args: [name, String(port)] }])),
);
report({
  question: "Sign and send 1 KB, 50 at once, over loopback",
  results,
  ratios: [
    { of: "hookproof", to: "bare node:http", goal: 0.8 },
    { of: "hookproof", to: "node:http, signed by hand" },
    { of: "hookproof", to: "node:http, by hand to the same promises" },
    { of: "hookproof over undici", to: "bare undici Pool", goal: 0.8 },
    { of: "hookproof over undici", to: "undici Pool, signed by hand" },
    { of: "hookproof", to: "fetch + svix", goal: 5 },
    { of: "hookproof", to: "got + standardwebhooks", goal: 5 },
    { of: "hookproof", to: "axios + stripe", goal: 5 },
  ].filter(({ to }) => names.includes(to)),
});
process.exit();
