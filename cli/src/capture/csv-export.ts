// Reads the export of webhook.site as CSV.
import { usageError } from "../failure.js";
import { requestFrom } from "./captured-json.js";
import type { CapturedRequest } from "./raw-request.js";

/** Whether a text begins with the names of columns, among them those of a request. */
export function isCsv(start: string): boolean {
  const [line = ""] = start.split("\n", 1);
  const names = line.toLowerCase().replaceAll('"', "").split(",");
  return (
    ["method", "headers"].every((name) => names.includes(name)) ||
    ["uuid", "content"].every((name) => names.includes(name))
  );
}

/** Reads the rows as requests; their headers are JSON. */
export function parseCsv(text: string): CapturedRequest {
  const [names = [], ...rows] = rowsOf(text);
  const requests = rows
    .filter((row) => row.length === names.length)
    .map((row) => {
      const request = Object.fromEntries(names.map((name, at) => [name.toLowerCase(), row[at]]));
      return { ...request, headers: headersIn(request.headers) };
    });
  return requestFrom(requests);
}

function headersIn(cell: string | undefined): unknown {
  try {
    return JSON.parse(cell ?? "");
  } catch {
    throw usageError(
      "The rows of this CSV have no headers as JSON.",
      "Export the request as JSON: at webhook.site by https://webhook.site/token/<id>/requests.",
    );
  }
}

/** Cells in quotes may have commas, line breaks and doubled quotes. */
function rowsOf(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  let at = 0;
  while (at < text.length) {
    let cell = "";
    if (text[at] === '"') {
      const parts: string[] = [];
      at += 1;
      for (let end = text.indexOf('"', at); ; end = text.indexOf('"', at)) {
        const to = end < 0 ? text.length : end;
        parts.push(text.slice(at, to));
        at = to + 1;
        if (end < 0 || text[at] !== '"') break;
        parts.push('"');
        at += 1;
      }
      cell = parts.join("");
    } else {
      const from = at;
      while (at < text.length && text[at] !== "," && text[at] !== "\n") at++;
      cell = text.slice(from, at).replace(/\r$/, "");
    }
    row.push(cell);
    if (text[at] === "\r") at += 1;
    if (text[at] !== ",") {
      rows.push(row);
      row = [];
    }
    at += 1;
  }
  return row.length > 0 ? [...rows, row] : rows;
}
