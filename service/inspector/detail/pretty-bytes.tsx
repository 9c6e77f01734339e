// Sets JSON on lines without changing its spelling.
import { VisibleBytes } from "../parts/visible-bytes.js";
import { VisibleText } from "../parts/visible-text.js";
import { decode, hexOf } from "../text/bytes.js";
import { prettyJson } from "../text/pretty-json.js";

/** JSON on lines, with its own spelling; other bytes as they are. */
export function PrettyBytes({ bytes }: { bytes: Uint8Array }) {
  const pieces = jsonOf(bytes);
  if (!pieces) return <VisibleBytes bytes={bytes} />;
  return (
    <>
      {pieces.map(({ text, kind }) => (
        <span class={`json-${kind ?? "other"}`}>
          <VisibleText text={text} marking="on-lines" />
        </span>
      ))}
    </>
  );
}

/** The lines of a body for a comparison. */
export function prettyLines(bytes: Uint8Array): string[] {
  const pieces = jsonOf(bytes);
  const text = pieces
    ? pieces.map((piece) => piece.text).join("")
    : decode(bytes)
        .map((part) => (typeof part === "string" ? part : hexOf(part)))
        .join("");
  return text.split("\n");
}

function jsonOf(bytes: Uint8Array) {
  const [text, ...more] = decode(bytes);
  return typeof text === "string" && more.length === 0 ? prettyJson(text) : undefined;
}
