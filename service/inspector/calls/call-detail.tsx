// One call of the API in full.
import type { CallDetail } from "../../src/inspector/contract.js";
import { callAsCurl } from "../copy/as-curl.js";
import { Headers } from "../detail/headers.js";
import { PrettyBytes } from "../detail/pretty-bytes.js";
import { kindOf, statusText } from "../parts/answer-kind.js";
import { CodeBlock } from "../parts/code-block.js";
import { Icon } from "../parts/icon.js";
import { Section } from "../parts/section.js";
import { StatusBadge } from "../parts/status-badge.js";
import { VisibleText } from "../parts/visible-text.js";
import { dateAndTime } from "../text/time.js";

interface CallProps {
  readonly call: CallDetail;
  /** Where the service is. */
  readonly origin: string | undefined;
  onCopy(text: string, what: string): void;
}

/** One call: who asked what, and what the answer was. */
export function Call({ call, origin, onCopy }: CallProps) {
  const curl = callAsCurl(call, origin);
  const { n, at, method, target, status, durationMs, operation, client, requestId, answer } = call;
  return (
    <article aria-labelledby="call">
      <header class={`summary ${kindOf(status)}`}>
        <StatusBadge status={status} />
        <div>
          <h2 id="call">{operation ?? "No operation has this path and method"}</h2>
          <p class="note">
            #{n} · <time dateTime={new Date(at).toISOString()}>{dateAndTime(at)}</time> · {durationMs} ms ·{" "}
            {client === undefined ? "no client" : <VisibleText text={client} />}
          </p>
          <p class="mono event-id">
            <VisibleText text={requestId} />
          </p>
          <p class="note">{howToCallAgain(curl !== undefined)}</p>
        </div>
        {curl !== undefined && (
          <div class="actions">
            <button type="button" title="With a token of its own" onClick={() => onCopy(curl, "curl")}>
              <Icon name="copy" />
              Copy as curl
            </button>
          </div>
        )}
      </header>
      {call.isFault && <p class="remark">This answer was set on purpose; the operation was not asked.</p>}
      <div class="columns">
        <div>
          <Section title="Request" note={call.sourceAddress && `from ${call.sourceAddress}`}>
            <p class="mono target">
              <b>
                <VisibleText text={method} />
              </b>{" "}
              <VisibleText text={target} />
            </p>
            <Headers headers={call.headers} />
            <Body label="Body of the request" text={call.body} />
          </Section>
        </div>
        <div>
          <Section
            title="Answer"
            note={status === 0 ? "the connection was cut" : `status ${statusText(status)}`}
          >
            <Headers headers={answer.headers} />
            <Body label="Body of the answer" text={answer.body} />
          </Section>
        </div>
      </div>
    </article>
  );
}

/** The page calls nothing: what a caller proved itself with is not kept, and a call may change the service. */
function howToCallAgain(canBeCopied: boolean): string {
  return canBeCopied
    ? "To make this call again, copy it as curl: tokens are not kept, so the command asks for its own."
    : "This call cannot be made again from here: a form, a long body and characters that are not seen are not copied.";
}

function Body({ label, text }: { label: string; text: string | undefined }) {
  if (text === undefined) return null;
  return (
    <CodeBlock label={label}>
      <PrettyBytes bytes={new TextEncoder().encode(text)} />
    </CodeBlock>
  );
}
