// Shows what the HMAC covers, and the right signature next to the one that came.
import type { HmacDetail } from "../../src/inspector/contract.js";
import { CodeBlock } from "../parts/code-block.js";
import { Section } from "../parts/section.js";
import { VisibleBytes } from "../parts/visible-bytes.js";
import { VisibleText } from "../parts/visible-text.js";
import { fromBase64, sizeOf } from "../text/bytes.js";
import { OtherSecret } from "./other-secret.js";

/** What the HMAC covers, and the signature it should have against the one that came. */
export function Signature({ hmac, cutAt }: { hmac: HmacDetail; cutAt: number | undefined }) {
  const { canonicalBase64, expected, received, firstDifference } = hmac;
  const secrets = hmac.secretFingerprints.join(", ");
  return (
    <Section title="Signature" note={secrets && `secret ${secrets}`}>
      {canonicalBase64 !== undefined && <Canonical bytes={fromBase64(canonicalBase64)} />}
      <dl class="comparison">
        {expected !== undefined && <Compared name="expected" value={expected} />}
        <Compared name="received" value={received} />
      </dl>
      {cutAt !== undefined && (
        <p class="note">
          {cutAt === 0 ? "The body was not read" : `The body was cut at ${sizeOf(cutAt)}`}: the signature was
          not compared.
        </p>
      )}
      {expected !== undefined && received !== undefined && (
        <p class="note">{firstDifference === undefined ? "They are the same." : "They differ."}</p>
      )}
      {canonicalBase64 !== undefined && received !== undefined && firstDifference !== undefined && (
        <OtherSecret input={fromBase64(canonicalBase64)} received={received} />
      )}
    </Section>
  );
}

/** `{timestamp}.{event_id}.{body}`, each part in its own place, with everything visible that is there. */
function Canonical({ bytes }: { bytes: Uint8Array }) {
  const first = bytes.indexOf(DOT);
  const second = bytes.indexOf(DOT, first + 1);
  return (
    <div class="canonical">
      <p class="note" aria-hidden="true">
        <span class="timestamp">timestamp</span> . <span class="event-id">event id</span> .{" "}
        <span class="body">body</span>
      </p>
      <CodeBlock label="Signing input">
        <span class="timestamp">
          <VisibleBytes bytes={bytes.subarray(0, first)} marking="bytes" />
        </span>
        .
        <span class="event-id">
          <VisibleBytes bytes={bytes.subarray(first + 1, second)} marking="bytes" />
        </span>
        .
        <span class="body">
          <VisibleBytes bytes={bytes.subarray(second + 1)} marking="bytes" />
        </span>
      </CodeBlock>
    </div>
  );
}

const DOT = 0x2e;

function Compared({ name, value }: { name: string; value: string | undefined }) {
  return (
    <>
      <dt>{name}</dt>
      <dd class="mono">
        {value === undefined ? <i>none, or several</i> : <VisibleText text={value} marking="bytes" />}
      </dd>
    </>
  );
}
