// Shows a body as text, JSON or bytes.
import { useId, useState } from "preact/hooks";
import type { RequestDetail } from "../../src/inspector/contract.js";
import { sizeOfRow } from "../list/request-row.js";
import { CodeBlock } from "../parts/code-block.js";
import { Section } from "../parts/section.js";
import { VisibleBytes } from "../parts/visible-bytes.js";
import { fromBase64, hexDump, sizeOf } from "../text/bytes.js";
import { PrettyBytes } from "./pretty-bytes.js";

const MAX_OF_CUT = 32 * 1024;
const VIEWS = ["pretty", "raw", "hex"] as const;
type View = (typeof VIEWS)[number];

/** The body: laid out, as it came, or byte by byte. */
export function Body({
  bodyBase64,
  bodyBytes,
  bodySha256,
  isCut,
  isUnread,
}: Pick<RequestDetail, "bodyBase64" | "bodyBytes" | "bodySha256" | "isCut" | "isUnread">) {
  const [view, setView] = useState<View>("pretty");
  const id = useId();
  // Of a body that was cut nobody needs the last bytes, and a browser takes long over them.
  const bytes = fromBase64(bodyBase64).subarray(0, isCut ? MAX_OF_CUT : undefined);
  const go = (by: number) => {
    const to = VIEWS[(VIEWS.indexOf(view) + by + VIEWS.length) % VIEWS.length] ?? "pretty";
    setView(to);
    document.getElementById(`${id}-${to}`)?.focus();
  };
  return (
    <Section
      title={isUnread ? "What came, as it came" : "Body"}
      note={
        isCut ? (
          sizeOfRow({ bodyBytes, isCut })
        ) : (
          <span title={`SHA-256: ${bodySha256}`}>
            {sizeOf(bodyBytes)} · sha256 {bodySha256.slice(0, 8)}…
          </span>
        )
      }
    >
      {isCut && !isUnread && (
        <p>The listener did not read the body to its end. What is shown here is not all of it.</p>
      )}
      <div
        class="tabs"
        role="tablist"
        aria-label="View of the body"
        onKeyDown={(event) => {
          if (event.key === "ArrowRight") go(1);
          else if (event.key === "ArrowLeft") go(-1);
        }}
      >
        {VIEWS.map((name) => (
          <button
            type="button"
            role="tab"
            key={name}
            id={`${id}-${name}`}
            aria-selected={view === name}
            aria-controls={`${id}-panel`}
            tabIndex={view === name ? 0 : -1}
            onClick={() => setView(name)}
          >
            {name}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${view}`}>
        {bytes.length === 0 ? (
          <p class="note">{isCut ? "None of it was read." : "The body is empty."}</p>
        ) : (
          <CodeBlock label={`Body, ${view}`}>
            {view === "pretty" && <PrettyBytes bytes={bytes} />}
            {view === "raw" && <VisibleBytes bytes={bytes} marking="bytes" />}
            {view === "hex" && hexDump(bytes)}
          </CodeBlock>
        )}
      </div>
    </Section>
  );
}
