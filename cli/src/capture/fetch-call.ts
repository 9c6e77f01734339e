// Reads a request that a browser copied as a call of fetch.
import type { HeaderPair } from "hookproof";
import { usageError } from "../failure.js";
import type { CapturedRequest } from "./raw-request.js";

/** Whether a text begins with a call of fetch. */
export function isFetch(start: string): boolean {
  return /^(?:await\s+)?fetch\s*\(/.test(start);
}

/** Reads `fetch("…", { … })` as browsers copy it, whose arguments are JSON. */
export function parseFetch(text: string): CapturedRequest {
  const [from, to] = [text.indexOf("(") + 1, text.lastIndexOf(")")];
  let url: unknown;
  let options: Readonly<Record<string, unknown>>;
  try {
    const values: unknown[] = JSON.parse(
      `[${text.slice(from, to < from ? text.length : to).replace(/,\s*$/, "")}]`,
    );
    url = values[0];
    options = (values[1] ?? {}) as typeof options;
  } catch {
    throw notPlain();
  }
  const { method, headers = {}, body } = options;
  if (typeof url !== "string" || typeof headers !== "object" || headers === null) throw notPlain();
  if (body !== undefined && body !== null && typeof body !== "string") throw notPlain();
  const pairs = Array.isArray(headers) ? headers : Object.entries(headers);
  const isPlain = (one: unknown) =>
    Array.isArray(one) && one.length === 2 && one.every((part) => !isObject(part));
  if (!pairs.every(isPlain)) throw notPlain();
  return {
    method: typeof method === "string" ? method.toUpperCase() : "GET",
    target: url,
    headers: pairs.map(([name, value]): HeaderPair => [String(name), String(value)]),
    body: Buffer.from(body ?? ""),
    ...(method !== undefined && method !== "GET" && (body ?? "") === ""
      ? { lacksBody: "the copy has none, as browsers leave out what is no text" }
      : {}),
  };
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null;
}

function notPlain(): Error {
  return usageError(
    "This call of fetch has more in it than plain texts.",
    "Copy it as fetch from the browser's network panel, or as cURL.",
  );
}
