// Evaluates expressions in a process of its own, so that none can hang the service or use up its memory.
// Plain JavaScript, as it is started by Node itself, from the sources in tests and from dist in use.
import vm from "node:vm";
import { Worker } from "node:worker_threads";
import { isCelError } from "@bufbuild/cel";
import { mistakesIn } from "./cel/check.js";
import { environment, evaluatedTree } from "./cel/environment.js";
import { Failure, isTooLarge } from "./cel/failure.js";
import { failedPart, followed, seenParts } from "./cel/follow.js";
import { beginLookUps, wantedLookUps } from "./cel/look-ups.js";
import { parsed } from "./cel/parse.js";
import { contextValue, jsonValue } from "./cel/values.js";

/** Ends an evaluation that needs what the service has to look up. */
class Wanting extends Error {}

function evaluated(expression, ctx) {
  const value = evaluatedTree(parsed(expression).tree, { ctx });
  if (!isCelError(value)) return value;
  if (isTooLarge(value)) throw value;
  // A value is right without what a look-up would have given, as `true || …` is; an error may not be.
  if (wantedLookUps().length > 0) throw new Wanting();
  const shown = expression.length > 100 ? `${expression.slice(0, 100)}…` : expression;
  throw new Failure(codeOf(value), `${shown}: ${wordsOf(value)}`);
}

/** The library's words, but for the bounds that it says a list has. */
function wordsOf({ message }) {
  return message.replace(/^(index \S+) out of bounds .*$/s, "$1 is out of bounds");
}

function codeOf({ message }) {
  return /^field not found|^index \S+ out of bounds/.test(message) ? "FIELD_MISSING" : "EXPRESSION_FAILED";
}

let following;

/** What an expression gives, and what its parts gave. */
function traced({ context, expression, maxLength }) {
  following = undefined;
  const ctx = contextValue(context);
  const written = parsed(expression);
  const isFunction = (name) => environment.funcs.find(name) !== undefined;
  const tree = followed(written, isFunction);
  following = written;
  const value = evaluatedTree(tree, { ctx });
  if (isCelError(value)) {
    if (isTooLarge(value)) throw value;
    if (wantedLookUps().length > 0) throw new Wanting();
    const givenBy = (part) => {
      const given = evaluatedTree(part, { ctx });
      return isCelError(given) ? undefined : given;
    };
    const failure = { code: codeOf(value), message: wordsOf(value) };
    return { failure, failed: failedPart(value, written, givenBy), parts: seenParts(written) };
  }
  const json = JSON.stringify(jsonValue(value));
  if (json.length > maxLength) throw new Failure("RESULT_TOO_LARGE", `longer than ${maxLength} characters`);
  return { json, parts: seenParts(written) };
}

const answers = {
  check({ expression, stepNames }) {
    const mistakes = mistakesIn(parsed(expression), stepNames);
    if (mistakes.length > 0) throw new Failure("EXPRESSION_INVALID", mistakes.join("; "));
  },
  condition({ context, expression }) {
    const value = evaluated(expression, contextValue(context));
    if (typeof value !== "boolean")
      throw new Failure("CONDITION_NOT_BOOLEAN", "the condition is neither true nor false");
    return value;
  },
  trace: traced,
  values({ context, expressions, maxLength }) {
    const ctx = contextValue(context);
    let length = 0;
    return expressions.map((expression) => {
      const text = JSON.stringify(jsonValue(evaluated(expression, ctx)));
      length += text.length;
      if (length <= maxLength) return text;
      throw new Failure("RESULT_TOO_LARGE", `longer than ${maxLength} characters`);
    });
  },
};

/**
 * Ends the process when it holds more than it may, however busy it is. V8's own limit is for its heap, and knows
 * nothing of bytes.
 */
const isBusy = new Int32Array(new SharedArrayBuffer(4));
const watch = new Worker(
  `const { workerData: { isBusy, maxBytes, pid } } = require("node:worker_threads");
  for (;;) {
    Atomics.wait(isBusy, 0, 0);
    if (process.memoryUsage.rss() > maxBytes) process.kill(pid, "SIGKILL");
    Atomics.wait(isBusy, 0, 1, 5);
  }`,
  { eval: true, workerData: { isBusy, maxBytes: Number(process.argv[2]), pid: process.pid } },
);
watch.unref();

// The first evaluations of a process take many times as long as later ones, and more than the first lane allows.
for (let round = 0; round < 10; round++)
  answers.values({
    context: JSON.stringify({ trigger: { name: "Ada", tags: ["a"] } }),
    expressions: ["has(ctx.trigger.name) && ctx.trigger.tags.all(tag, tag.matches('^[a-z]')) ? 'yes' : 'no'"],
    maxLength: 100,
  });
watch.once("online", () => process.send({ ready: true }));

function setBusy(value) {
  Atomics.store(isBusy, 0, value);
  Atomics.notify(isBusy, 0);
}

let request;
globalThis.answerRequest = () => answers[request.ask](request);
const script = new vm.Script("answerRequest()");

process.on("message", (message) => {
  request = message;
  setBusy(1);
  beginLookUps(message);
  const before = process.cpuUsage();
  const usedMs = () => {
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  };
  try {
    const value = script.runInThisContext({ timeout: message.timeoutMs });
    process.send({ value, usedMs: usedMs() });
  } catch (error) {
    if (error instanceof Wanting) process.send({ wanted: wantedLookUps(), usedMs: usedMs() });
    else
      process.send({ failure: failureOf(error, message.timeoutMs), parts: partsSoFar(), usedMs: usedMs() });
  } finally {
    setBusy(0);
  }
});

/** What was seen of an evaluation that is traced until it was ended. */
function partsSoFar() {
  return request.ask === "trace" && following !== undefined ? seenParts(following) : undefined;
}

function failureOf(error, timeoutMs) {
  if (error instanceof Failure) return { code: error.code, message: error.message };
  if (error.code === "ERR_SCRIPT_EXECUTION_TIMEOUT")
    return { code: "EXPRESSION_TIMEOUT", message: `not done after ${timeoutMs} ms` };
  if (isTooLarge(error)) return { code: "EXPRESSION_TOO_LARGE", message: "more than the engine can hold" };
  return { code: "EXPRESSION_FAILED", message: error.message };
}

// An interrupt from the keyboard reaches every process of the group; the service still has runs to finish.
process.on("SIGINT", () => {});
process.on("SIGTERM", () => {});
