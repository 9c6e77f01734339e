// What a user reads first in docs/performance.md: one picture and ten lines, of bench/results and nothing else.
import { escaped } from "./plot.mjs";
import { amount } from "./reporting.mjs";

const LINES = [
  ({ hmac }) => {
    const sign = "HMAC sign, 1,024 bytes";
    return `**Signing** 1 KB by HMAC: ${rate(hmac, sign, "signHmac")} a second on one core, ${times(hmac, sign, "signHmac", "standardwebhooks")} times as many as standardwebhooks, ${times(hmac, sign, "signHmac", "svix")} svix, ${times(hmac, sign, "signHmac", "stripe")} stripe.`;
  },
  ({ hmac }) => {
    const verify = "HMAC verify, 1,024 bytes";
    const ours = "verifyHmac and JSON.parse";
    return `**Verifying** and parsing it: ${rate(hmac, verify, ours)} a second, ${times(hmac, verify, ours, "standardwebhooks")} times as many as standardwebhooks, ${times(hmac, verify, ours, "svix")} svix, ${times(hmac, verify, ours, "stripe")} stripe.`;
  },
  ({ send }) => {
    const [{ question, results }] = send.answers;
    return `**Sending** it over loopback, 50 at once: ${rate(send, question, "hookproof")} a second at ${amount(results.hookproof.cpuMicros)} µs of processor time each, ${times(send, question, "hookproof", "fetch + svix")} times as many as fetch + svix; bare \`node:http\`, which signs nothing, ${rate(send, question, "bare node:http")}.`;
  },
  ({ receive }) => {
    const [{ question }] = receive.answers;
    const ours = "hookproof on node:http, memory";
    return `**Receiving** on \`node:http\`, ids in memory: ${rate(receive, question, ours)} requests for a second of the processor; by hand with the same promises ${rate(receive, question, "by hand to the same promises, memory")}, a server that checks nothing ${rate(receive, question, "bare node:http")}.`;
  },
  ({ outbox }) => queueLine("PostgreSQL", "pg-boss", outbox, "PostgreSQL: enqueue and deliver 1 KB"),
  ({ outbox }) =>
    queueLine("SQLite", "a bare queue", outbox, "SQLite (better-sqlite3): enqueue and deliver 1 KB"),
  ({ latency }) => {
    const at = (engine) =>
      figure(latency, `${engine}: from enqueue to the receiver, at a share of the most`, "half of it, p99");
    return `**From enqueue to the receiver** at half of the most that one process can do: 99 of 100 events within ${at("PostgreSQL")} ms in PostgreSQL and ${at("SQLite (better-sqlite3)")} in SQLite.`;
  },
  ({ growth }) => {
    const among = (engine) =>
      figure(growth, "What an event costs among 10,000 listeners over what it costs among 10", engine);
    const tenants =
      "What an event of many tenants costs over one of a backlog of 1,000,000 events, 1 % of them due, of one tenant";
    const million = (engine) => figure(growth, tenants, `${engine}, 1,000,000 tenants`);
    return `**Many tenants**: among 10,000 listeners an event costs ${among("PostgreSQL")} times what it costs among 10 (SQLite ${among("SQLite")}), in a backlog of a million tenants ${million("PostgreSQL")} times what it costs in one of one tenant (SQLite ${million("SQLite")}).`;
  },
  ({ horizon, neighbours }) => {
    const claim = figure(
      horizon,
      "Taking ten due events after 300,000 were delivered under a held snapshot, over what it took before them",
      "outbox",
    );
    const others =
      "PostgreSQL: from enqueue to a healthy listener, 99 of 100 events, over what it takes without";
    const held = figure(neighbours, others, "a snapshot held over 100,000 deliveries");
    return `**Other people's trouble**: next to a transaction that holds its snapshot, taking events costs ${claim} times as much after 300,000 deliveries, and 99 of 100 events of a healthy listener take ${held} times as long.`;
  },
  ({ install, start }) => {
    const packages = figure(install, "Packages that come with it", "hookproof");
    const bytes = figure(install, "Signing with an HMAC, bundled for a browser", "hookproof");
    const first = (name) => figure(start, "Start", name);
    return `**Size and start**: ${packages} packages, ${bytes} bytes for signing in a browser (gzip), the first signature ${first("the same as one file of a bundler, above an empty module")} ms after an empty module as one file of a bundler and ${first("the library, to its first HMAC signature, above an empty module")} ms as installed.`;
  },
];

/** The picture and the ten lines. When and where each was measured stands further down the page, bench by bench. */
export function summary(results) {
  const lines = LINES.map((line) => `- ${line(results)}`);
  return `![Operations a second, next to what people would use instead](images/performance/at-a-glance.svg)\n\n${lines.join("\n")}`;
}

function queueLine(engine, bare, outbox, question) {
  const at = (name) => rate(outbox, question, name);
  return `**The outbox in ${engine}**, one process: ${at("enqueue one, outbox")} events a second enqueued one by one and ${at("enqueue 100, outbox")} by the hundred, ${at("sign, POST, complete, outbox")} signed, posted and completed; ${bare} does ${at("enqueue one, bare")}, ${at("enqueue 100, bare")} and ${at("sign, POST, complete, bare")}.`;
}

const GROUPS = [
  ["Sign 1 KB by HMAC", "hmac", "HMAC sign, 1,024 bytes", ["signHmac", "standardwebhooks", "svix", "stripe"]],
  [
    "Verify and parse it",
    "hmac",
    "HMAC verify, 1,024 bytes",
    ["verifyHmac and JSON.parse", "standardwebhooks", "svix", "stripe"],
  ],
  [
    "Sign and send it, over loopback",
    "send",
    undefined,
    ["hookproof", "fetch + svix", "got + standardwebhooks", "axios + stripe"],
  ],
  [
    "Sign, post and complete it, from PostgreSQL",
    "outbox",
    "PostgreSQL: enqueue and deliver 1 KB",
    ["sign, POST, complete, outbox", "sign, POST, complete, bare"],
  ],
];
const NAMES = {
  signHmac: "hookproof",
  "verifyHmac and JSON.parse": "hookproof",
  "sign, POST, complete, outbox": "hookproof",
  "sign, POST, complete, bare": "bare pg-boss",
};
const [WIDTH, LEFT, RIGHT, ROW, GAP] = [720, 190, 600, 22, 40];

const STYLE = `
  .page { fill: #ffffff } text { fill: #1f2328; font: 13px system-ui, sans-serif } .bar { fill: #8c959f } .ours { fill: #0969da }
  @media (prefers-color-scheme: dark) { .page { fill: #0d1117 } text { fill: #f0f6fc } .bar { fill: #59636e } .ours { fill: #4493f8 } }`;

/** The picture: bars of operations a second, in each group as parts of the longest. */
export function glanceSvg(results) {
  let top = 12;
  const parts = GROUPS.map(([title, bench, asked, names]) => {
    const question = asked ?? results[bench].answers[0].question;
    const rates = names.map((name) => rateOf(results[bench], question, name).perSecond);
    const longest = Math.max(...rates);
    const rows = names.map((name, n) => {
      const y = top + 30 + n * ROW;
      const width = Math.max(1, Math.round((rates[n] / longest) * (RIGHT - LEFT)));
      return `<text x="${LEFT - 10}" y="${y + 13}" text-anchor="end">${escaped(NAMES[name] ?? name)}</text><rect class="${n === 0 ? "ours" : "bar"}" x="${LEFT}" y="${y}" width="${width}" height="16"/><text x="${LEFT + width + 8}" y="${y + 13}">${amount(rates[n])}</text>`;
    });
    const head = `<text x="${LEFT}" y="${top + 18}" style="font-weight: 600">${escaped(title)}, a second</text>`;
    top += GAP + names.length * ROW;
    return [head, ...rows].join("\n");
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${top}" width="${WIDTH}" height="${top}" role="img" aria-label="Operations a second, next to what people would use instead">
<style>${STYLE}
</style>
<rect class="page" width="${WIDTH}" height="${top}" rx="6"/>
${parts.join("\n")}
</svg>
`;
}

/** One answer of a bench; a question that no longer stands there is an error of this file. */
function answerOf(result, question) {
  const found = result?.answers.find((answer) => answer.question === question);
  if (!found) throw new Error(`No result in bench/results answers: ${question}`);
  return found;
}

function rateOf(result, question, name) {
  const found = answerOf(result, question).results[name];
  if (!found) throw new Error(`${question} has no case ${name}`);
  return found;
}

function rate(result, question, name) {
  return amount(rateOf(result, question, name).perSecond);
}

function times(result, question, of, to) {
  const found = answerOf(result, question).ratios.find((ratio) => ratio.of === of && ratio.to === to);
  if (!found) throw new Error(`${question} has no ratio of ${of} to ${to}`);
  return found.ratio.toFixed(2);
}

function figure(result, question, name) {
  const found = answerOf(result, question).figures[name];
  if (!found) throw new Error(`${question} has no figure ${name}`);
  return amount(found.value);
}
