// Runs as a process of its own, so that no expression can hang the service or use up its memory. Plain
// JavaScript, as it is started by Node itself, from the sources in tests and from dist in use.
import vm from "node:vm";
import { Worker } from "node:worker_threads";
import {
  CelScalar,
  celEnv,
  celFunc,
  celListConcat,
  isCelError,
  isCelList,
  isCelMap,
  isCelType,
  isCelUint,
  listType,
  parse,
  plan,
} from "@bufbuild/cel";
import { strings } from "@bufbuild/cel/ext";
import { toJson } from "@bufbuild/protobuf";

const MAX_DEPTH = 500;
/** The longest text, bytes or list that a sum may give: four times what a whole step may. */
const MAX_SUM_LENGTH = 2 ** 20;
const { STRING, BYTES, DYN } = CelScalar;
const LIST = listType(DYN);
const env = celEnv({
  funcs: [
    ...strings,
    sumOf(
      STRING,
      ({ length }) => length,
      (one, other) => one + other,
    ),
    sumOf(
      BYTES,
      ({ length }) => length,
      (one, other) => new Uint8Array(Buffer.concat([one, other])),
    ),
    sumOf(LIST, ({ size }) => size, celListConcat),
  ],
});

/** `+` of a type, in the place of the library's own, which gives whatever doubling leads to. */
function sumOf(type, lengthOf, sum) {
  return celFunc("_+_", [type, type], type, (one, other) => {
    if (lengthOf(one) + lengthOf(other) > MAX_SUM_LENGTH) throw new RangeError("Invalid string length");
    return sum(one, other);
  });
}

/** A failure with one of the codes of `StepFailure`. */
class Failure extends Error {
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

/** Objects become maps, so that a member named `constructor` or `__proto__` is a member like any other. */
function celValue(json, depth = 0) {
  if (depth > MAX_DEPTH) throw new Failure("CONTEXT_TOO_DEEP", `deeper than ${MAX_DEPTH} levels`);
  if (Array.isArray(json)) return json.map((item) => celValue(item, depth + 1));
  if (json === null || typeof json !== "object") return json;
  return new Map(Object.entries(json).map(([name, value]) => [name, celValue(value, depth + 1)]));
}

/** A value as JSON has it, as protobuf's mapping writes those it has no type for. */
function jsonValue(value, depth = 0) {
  if (depth > MAX_DEPTH) throw new Failure("RESULT_TOO_LARGE", `deeper than ${MAX_DEPTH} levels`);
  if (typeof value === "number") return Number.isFinite(value) ? value : String(value);
  if (isCelUint(value)) return integer(value.value);
  if (typeof value === "bigint") return integer(value);
  if (value instanceof Uint8Array) return Buffer.from(value).toString("base64");
  if (isCelList(value)) return Array.from(value, (item) => jsonValue(item, depth + 1));
  if (isCelMap(value))
    return Object.fromEntries(
      Array.from(value, ([key, item]) => [String(jsonValue(key)), jsonValue(item, depth + 1)]),
    );
  if (isCelType(value)) return value.name;
  if (value !== null && typeof value === "object") return toJson(value.desc, value.message);
  return value;
}

/** A whole number that a double would round is written as text. */
function integer(value) {
  return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
}

function compiled(expression) {
  try {
    return plan(env, parse(expression));
  } catch (error) {
    throw isTooLarge(error) ? error : new Failure("EXPRESSION_INVALID", error.message);
  }
}

function evaluated(expression, ctx) {
  const value = compiled(expression)({ ctx });
  if (!isCelError(value)) return value;
  if (isTooLarge(value)) throw value;
  const isMissing = /^field not found|^index \S+ out of bounds/.test(value.message);
  const shown = expression.length > 100 ? `${expression.slice(0, 100)}…` : expression;
  throw new Failure(isMissing ? "FIELD_MISSING" : "EXPRESSION_FAILED", `${shown}: ${value.message}`);
}

/** Whether the engine gave up: the stack, a text or a buffer grew past what it can hold. */
function isTooLarge({ message }) {
  return /call stack size|Invalid (string|array) length|allocation failed/.test(message);
}

const answers = {
  check: ({ expression }) => void compiled(expression),
  condition({ context, expression }) {
    const value = evaluated(expression, celValue(JSON.parse(context)));
    if (typeof value !== "boolean")
      throw new Failure("CONDITION_NOT_BOOLEAN", "the condition is neither true nor false");
    return value;
  },
  values({ context, expressions, maxLength }) {
    const ctx = celValue(JSON.parse(context));
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
const watching = new Promise((resolve) => watch.once("online", resolve));

function setBusy(value) {
  Atomics.store(isBusy, 0, value);
  Atomics.notify(isBusy, 0);
}

let request;
globalThis.answerRequest = () => answers[request.ask](request);
const script = new vm.Script("answerRequest()");

process.on("message", async (message) => {
  await watching;
  request = message;
  setBusy(1);
  try {
    process.send({ value: script.runInThisContext({ timeout: message.timeoutMs }) });
  } catch (error) {
    process.send({ failure: failureOf(error, message.timeoutMs) });
  } finally {
    setBusy(0);
  }
});

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
