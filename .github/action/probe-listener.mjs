// What action.yml runs: `hookproof test` in the version of this repository, told as a job's summary, annotations, outputs
// and a JUnit file. It needs nothing but Node. What a listener says is text of others: it is escaped wherever it goes.
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const { env } = process;
const input = (name) => (env[`INPUT_${name.toUpperCase()}`] ?? "").trim();
const lines = (name) =>
  input(name)
    .split(/\r?\n/)
    .map((one) => one.trim())
    .filter(Boolean);

const MAX_ANNOTATIONS = 10; // a step shows no more of a kind

try {
  process.exitCode = await probe();
} catch (error) {
  annotate("error", "hookproof", error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}

async function probe() {
  if (process.platform === "win32") throw new Error("This action runs on Linux and macOS.");
  const url = input("url");
  if (url === "") throw new Error("The input url is missing: the listener's whole URL.");
  if (!/^https?:\/\//i.test(url)) throw new Error("The input url must begin with https:// or http://.");
  const report = input("report") || "hookproof-probes.xml";
  const told = await hookproofTest(url, report);
  const summary = told.find(({ type }) => type === "summary");
  if (!summary) throw new Error(whyNot(told));
  const verdict = told.find(({ type }) => type === "verdict");
  const isStrict = flag("strict");
  const isFailure = ({ outcome }) => outcome === "fail" || (isStrict && outcome === "unclear");
  const failures = told.filter((one) => one.type === "probe" && isFailure(one));

  tellOutputs({
    ok: String(summary.ok),
    verdict: verdict?.sentence ?? "",
    "verdict-id": verdict?.id ?? "",
    passed: String(summary.pass),
    failed: String(summary.fail),
    unclear: String(summary.unclear),
    skipped: String(summary.skip),
    report,
  });
  tellSummary(url, summary, verdict, failures);
  logged(
    `${summary.pass} pass, ${summary.fail} fail, ${summary.unclear} unclear, ${summary.skip} skipped; ${report}`,
  );
  if (verdict) annotate("error", `The listener: ${verdict.id}`, `${verdict.sentence}\n${verdict.fix}`);
  const explained = new Set(verdict?.follows);
  const remaining = failures.filter(({ id }) => !explained.has(id));
  for (const one of remaining.slice(0, MAX_ANNOTATIONS - 1))
    annotate("error", `${one.id}: ${one.title}`, `${deviationOf(one)}\n${one.means}\n${one.fix}`);
  return summary.ok ? 0 : 1;
}

/** Runs `hookproof test`; gives the documents that it prints. */
async function hookproofTest(url, report) {
  const { version } = JSON.parse(readFileSync(new URL("../../cli/package.json", import.meta.url), "utf8"));
  const args = ["--yes", "--package", `hookproof-cli@${version}`, "hookproof", "test", url, "--json"];
  args.push(
    "--reporter=junit",
    `--out=${resolve(report)}`,
    "--no-input",
    `--timeout=${input("timeout") || "10s"}`,
  );
  for (const name of ["allow-trigger", "strict"]) if (flag(name)) args.push(`--${name}`);
  for (const name of ["only", "skip"]) for (const glob of lines(name)) args.push(`--${name}=${glob}`);
  if (input("key") !== "") args.push("--method", "jwt", `--key=${resolve(input("key"))}`);
  if (input("base-url") !== "") args.push(`--base-url=${input("base-url")}`);

  // The inputs are not handed on: the secret goes in the variable that is for it alone.
  const own = Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith("INPUT_")));
  const secret = input("secret");
  // The checked-out tree may be a stranger's: its .npmrc would choose the registry, its node_modules the command, its
  // hookproof.config.json the options. In an empty folder none of them counts.
  const empty = mkdtempSync(join(env.RUNNER_TEMP || tmpdir(), "hookproof-action-"));
  const child = spawn("npx", args, {
    cwd: empty,
    env: secret === "" ? own : { ...own, HOOKPROOF_SECRET: secret },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let [said, warned] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text) => {
    said += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text) => {
    warned += text;
  });
  try {
    await new Promise((done, reject) => child.once("error", reject).once("close", done));
  } finally {
    rmSync(empty, { recursive: true, force: true });
  }
  const documents = said
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line));
  return documents.length > 0 ? documents : [{ error: { message: warned || "hookproof printed nothing." } }];
}

/** Why there is no summary: the command's own error, such as a secret that is missing. */
function whyNot(told) {
  const { code, message, hint } = told.find(({ error }) => error)?.error ?? {
    message: "The run has ended early.",
  };
  return [code === undefined ? message : `${code}: ${message}`, hint].filter(Boolean).join("\n");
}

function flag(name) {
  const value = input(name);
  if (!["", "true", "false"].includes(value)) throw new Error(`The input ${name} must be true or false.`);
  return value === "true";
}

function deviationOf({ expected, status, failure, reason }) {
  return `expected ${expected.join(" or ")}, saw ${status ?? failure ?? "nothing"}${reason ? `; ${reason}` : ""}`;
}

/** A text without what steers a terminal or a log; line ends become spaces. */
function plain(text) {
  return String(text).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, " ");
}

/** A line of the log: the runner takes `##[` for a command wherever in a line it stands. */
function logged(text) {
  console.log(plain(text).replaceAll("##[", "## ["));
}

/** A command of the runner: an annotation. Its parts are escaped, so that no text of others becomes a command. */
function annotate(kind, title, message) {
  const escaped = (text) => text.replaceAll("%", "%25");
  const property = escaped(plain(title)).replaceAll(":", "%3A").replaceAll(",", "%2C");
  const body = String(message).split("\n").map(plain).map(escaped).join("%0A");
  console.log(`::${kind} title=${property}::${body}`);
}

function tellOutputs(outputs) {
  if (!env.GITHUB_OUTPUT) return;
  for (const [name, value] of Object.entries(outputs)) {
    const end = `end-${randomUUID()}`; // nobody can have written it
    appendFileSync(env.GITHUB_OUTPUT, `${name}<<${end}\n${plain(value)}\n${end}\n`);
  }
}

/** A text in Markdown that is neither markup nor HTML. */
function inMarkdown(text) {
  return plain(text).replace(/[^\p{L}\p{N} .,;'"()=/-]/gu, (one) => `&#${one.codePointAt(0)};`);
}

function tellSummary(url, { ok, pass, fail, unclear, skip }, verdict, failures) {
  if (!env.GITHUB_STEP_SUMMARY) return;
  const counts = `${pass} passed, ${fail} failed, ${unclear} unclear, ${skip} skipped.`;
  const table = [
    "| probe | what it sends | what came back | fix |",
    "| --- | --- | --- | --- |",
    ...failures.map(
      (one) => `| ${[one.id, one.title, deviationOf(one), one.fix].map(inMarkdown).join(" | ")} |`,
    ),
  ];
  const text = [
    `## ${ok ? "The listener keeps the rules" : "The listener fails probes"}`,
    inMarkdown(url.replace(/^(https?:\/\/)[^/@]*@/, "$1")),
    ...(verdict ? [`**${inMarkdown(verdict.sentence)}**`, `Fix: ${inMarkdown(verdict.fix)}`] : []),
    counts,
    ...(failures.length > 0 ? [table.join("\n")] : []),
  ];
  appendFileSync(env.GITHUB_STEP_SUMMARY, `${text.join("\n\n")}\n`);
}
