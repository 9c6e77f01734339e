import { type Probe, probes } from "hookproof/probes";

const OPEN = {
  nothing: "",
  status: "the status is left open",
  refusal: "left open",
} as const;

/** docs/probes.md, from the data of the battery. */
export function probesPage(): string {
  const both = probes.filter(({ methods }) => methods.length === 2);
  const one = (method: "hmac" | "jwt") =>
    probes.filter(({ methods }) => methods.length === 1 && methods[0] === method);
  const count = (method: "hmac" | "jwt") => probes.filter(({ methods }) => methods.includes(method)).length;
  return `${[
    "# The battery of probes",
    "",
    "<!-- Made from src/probes by `npm run generate`. -->",
    "",
    `\`hookproof test\` and \`hookproof/probes\` send these requests to a listener and hold its answers against the specification: ${count("hmac")} for HMAC, ${count("jwt")} for tokens.`,
    "",
    ...INTRODUCTION,
    "## Both methods",
    "",
    ...table(both),
    "",
    "## HMAC",
    "",
    ...table(one("hmac")),
    "",
    "## Tokens",
    "",
    ...table(one("jwt")),
    "",
    "## What a failure means",
    "",
    ...probes.flatMap(({ id, means, fix }) => [`- \`${id}\`: ${means} ${fix}`]),
  ].join("\n")}\n`;
}

const INTRODUCTION = [
  "- **pass**: the answer is one of those expected.",
  "- **fail**: it is not. A server error (5xx) is a failure of every probe, and so is no answer from a listener that answered before. A listener that fails a probe by accepting it may have run its automation.",
  "- **unclear**: the specification leaves open what the probe asks, and the listener does otherwise than [decisions.md](decisions.md) or the RFC says; or the answer proves nothing, such as 429. It fails a run with `--strict` only.",
  "- **skip**: the probe would run the automation and may not (`--allow-trigger`, or `allowTrigger`), a request that it builds on was not answered as it must be, or this key or runtime cannot make it.",
  "",
  "Probes marked _runs_ are those for which a correct listener runs its automation, once or more often. What is left open is marked with where the expected answer comes from.",
  "",
  "```console",
  "$ hookproof listen &",
  "http://127.0.0.1:4400/api/v1/webhooks/incoming/lst_local",
  "$ hookproof test :4400 --allow-trigger --only 'event-id-processed*'",
  "4 probes (hmac) to http://127.0.0.1:4400/api/v1/webhooks/incoming/lst_local",
  "✔ 409   event-id-processed               a processed event id again, freshly proved",
  "✔ 409   event-id-processed-other-body    a processed event id again with another body, correctly proved",
  "✔ 409   event-id-processed-other-case    a processed event id again in lower case, first sent in upper case",
  "✔ 401   event-id-processed-bad-proof     a processed event id again with a proof by somebody else",
  "✔ 4 pass, 0 fail, 0 unclear, 0 skipped",
  "```",
  "",
  "The same from a test of your own:",
  "",
  "```ts",
  'import { runProbes } from "hookproof/probes";',
  "",
  "const target = {",
  '  url: "http://127.0.0.1:4400/api/v1/webhooks/incoming/lst_local",',
  '  auth: { method: "hmac", secret: "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8" },',
  "} as const;",
  "for await (const { id, outcome, means, fix } of runProbes(target, { allowTrigger: true })) {",
  '  if (outcome === "fail") console.error(id, means, fix);',
  "}",
  "```",
  "",
  "Two listeners without this library pass it: `examples/listener-python.py`, in Python's standard library, and `examples/listener-node-http.mjs`, in plain `node:http`.",
  "",
];

function table(rows: readonly Probe[]): string[] {
  const cells = [["id", "what is sent", "expected", "section", ""], ...rows.map(cellsOf)];
  const widths = [0, 1, 2, 3, 4].map((column) =>
    Math.max(3, ...cells.map((row) => row[column]?.length ?? 0)),
  );
  const [head = "", ...lines] = cells.map((row) =>
    tableLine(row.map((cell, n) => cell.padEnd(widths[n] ?? 0))),
  );
  return [head, tableLine(widths.map((width) => "-".repeat(width))), ...lines];
}

function tableLine(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |`;
}

function cellsOf({ id, title, expected, section, runsAutomation, leftOpen, decision }: Probe): string[] {
  const marks = [
    runsAutomation ? "_runs_" : "",
    leftOpen === "nothing" ? "" : `${OPEN[leftOpen]} (${decision})`,
  ];
  return [
    `\`${id}\``,
    title.replace(/[|_*<]/g, "\\$&"),
    expected.join(" or "),
    section,
    marks.filter((mark) => mark !== "").join("; "),
  ];
}
