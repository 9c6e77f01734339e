import { type Probe, probes } from "hookproof/probes";
import { markdownTable } from "../../kit/markdown.js";

const CHOICES = {
  none: "",
  status: "the status is the listener's choice",
  refusal: "the listener's choice",
} as const;

/** docs/probes.md, from the data of the probes. */
export function probesPage(): string {
  const both = probes.filter(({ methods }) => methods.length === 2);
  const one = (method: "hmac" | "jwt") =>
    probes.filter(({ methods }) => methods.length === 1 && methods[0] === method);
  const count = (method: "hmac" | "jwt") => probes.filter(({ methods }) => methods.includes(method)).length;
  return `${[
    "# The probes",
    "",
    "<!-- Made from src/doctor/probes by `npm run generate`. -->",
    "",
    `\`hookproof test\` and \`hookproof/probes\` are a test suite for listeners: they send these requests and compare the answers with the specification: ${count("hmac")} for HMAC, ${count("jwt")} for tokens.`,
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
  "- **fail**: it is not. A server error (5xx) fails every probe, and so does no answer from a listener that answered before. A listener that accepts what it must refuse may have run its automation.",
  "- **unclear**: the specification leaves the answer to the listener, and it is another one than [decisions.md](decisions.md) or the RFC says; or the answer proves nothing, such as 429. It fails a run with `--strict` only; a run with 429 among its answers, and no failure, ends with 8.",
  "- **skip**: the probe would run the automation and may not (`--allow-trigger`, or `allowTrigger`), the request before it was not answered as it must be, or this key or runtime cannot make the request.",
  "",
  "For a probe marked _runs_ a correct listener runs its automation. Where the specification leaves something to the listener, the mark says what, and where the expected answer comes from.",
  "",
  "```console",
  "$ hookproof listen &",
  "http://127.0.0.1:4400/api/v1/webhooks/incoming/lst_local",
  "$ hookproof test :4400 --allow-trigger --only 'event-id-processed*'",
  "4 probes (hmac) to http://127.0.0.1:4400/api/v1/webhooks/incoming/lst_local",
  "✔ 409   event-id-processed               a processed event id again, freshly signed",
  "✔ 409   event-id-processed-other-body    a processed event id again with another body, correctly signed",
  "✔ 409   event-id-processed-other-case    a processed event id again in lower case, first sent in upper case",
  "✔ 401   event-id-processed-bad-proof     a processed event id again, signed with a wrong secret or key",
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
  return markdownTable([["id", "what is sent", "expected", "section", ""], ...rows.map(cellsOf)]);
}

function cellsOf({
  id,
  title,
  expected,
  section,
  runsAutomation,
  listenerChoice,
  decision,
}: Probe): string[] {
  const marks = [
    runsAutomation ? "_runs_" : "",
    listenerChoice === "none" ? "" : `${CHOICES[listenerChoice]} (${decision})`,
  ];
  return [
    `\`${id}\``,
    title.replace(/[|_*<]/g, "\\$&"),
    expected.join(" or "),
    section,
    marks.filter((mark) => mark !== "").join("; "),
  ];
}
