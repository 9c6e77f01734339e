// Shows bytes as text, with those that are none marked.
import { decode, hexOf } from "../text/bytes.js";
import { MAX_PIECES, type Marking } from "../text/visible.js";
import { VisibleText } from "./visible-text.js";

/** Bytes as text; those that are no UTF-8 stand in hex. */
export function VisibleBytes({ bytes, marking }: { bytes: Uint8Array; marking?: Marking }) {
  const parts = decode(bytes);
  const rest = parts.slice(MAX_PIECES).map((part) => (typeof part === "string" ? part : hexOf(part)));
  return (
    <>
      {parts.slice(0, MAX_PIECES).map((part) =>
        typeof part === "string" ? (
          <VisibleText text={part} {...(marking && { marking })} />
        ) : (
          <span class="hidden-character" title="not UTF-8">
            {hexOf(part)}
          </span>
        ),
      )}
      {rest.length > 0 && <VisibleText text={rest.join("")} />}
    </>
  );
}
