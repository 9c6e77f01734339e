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
  return {
    method: typeof method === "string" ? method.toUpperCase() : "GET",
    target: url,
    headers: Object.entries(headers).flatMap(([name, value]): HeaderPair[] =>
      typeof value === "string" ? [[name, value]] : [],
    ),
    body: Buffer.from(body ?? ""),
  };
}

function notPlain(): Error {
  return usageError(
    "This call of fetch has more in it than plain texts.",
    "Copy it as fetch from the browser's network panel, or as cURL.",
  );
}
