// Shows the mistakes behind a refusal and what to change.
import type { Mistake, RequestDetail } from "../../src/inspector/contract.js";
import { Icon } from "../parts/icon.js";
import { Tabs } from "../parts/tabs.js";
import { VisibleText } from "../parts/visible-text.js";
import { hasHidden } from "../text/visible.js";

interface MistakesProps {
  readonly detail: RequestDetail;
  onCopy(text: string, what: string): void;
}

/** The mistakes that explain a refusal, the likeliest first, and what to change. */
export function Mistakes({ detail, onCopy }: MistakesProps) {
  if (detail.mistakes.length === 0) return null;
  return (
    <section class="mistakes" aria-label="Why">
      {detail.mistakes.map((mistake) => (
        <div key={mistake.id}>
          <p class="message">
            <VisibleText text={mistake.message} />
          </p>
          <Fix mistake={mistake} detail={detail} onCopy={onCopy} />
          <p class="note mono">{mistake.id}</p>
        </div>
      ))}
    </section>
  );
}

/** Where nothing explains a signature: what to do, what was tried, and then values that stand in the table. */
const UNEXPLAINED = /^(.+?) (What was tried: .+?\.) To somebody who helps, /;

/** What to change: where code does it, in each language, the sender's own first. */
function Fix({ mistake, detail, onCopy }: MistakesProps & { readonly mistake: Mistake }) {
  const { id, fix, fixes = [] } = mistake;
  const [, todo, tried] = (detail.hmac && UNEXPLAINED.exec(fix)) ?? [];
  if (todo !== undefined)
    return (
      <>
        <p class="fix">
          <b>Fix</b> <VisibleText text={todo} /> Send these to somebody who helps: no secret is in them.
        </p>
        <ToCompare detail={detail} onCopy={onCopy} />
        <p class="tried">{tried}</p>
      </>
    );
  if (fixes.length === 0)
    return (
      <p class="fix">
        <b>Fix</b> <VisibleText text={fix} />
      </p>
    );
  return (
    <div class="fix">
      <b>Fix</b>
      <Tabs
        label={`Fix of ${id} by language`}
        tabs={fixes.map((one) => ({ name: one.language, content: <VisibleText text={one.fix} /> }))}
      />
    </div>
  );
}

/** What to compare with the other side, each to be copied. */
function ToCompare({ detail, onCopy }: MistakesProps) {
  const headerOf = (wanted: string) =>
    detail.headers.find(([name]) => name.toLowerCase() === wanted.toLowerCase())?.[1] ?? "none";
  const rows = [
    ["Secret's fingerprint", detail.hmac?.secretFingerprints.join(", ") ?? ""],
    ["SHA-256 of the body", detail.bodySha256],
    ["Bytes of the body", String(detail.bodyBytes)],
    ...["Webhook-Timestamp", "Webhook-Event-Id"].map((name) => [name, headerOf(name)] as const),
  ] as const;
  return (
    <dl class="to-compare">
      {rows.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd class="mono">
            <VisibleText text={value} marking="bytes" />
          </dd>
          <dd>
            <button
              type="button"
              class="quiet"
              aria-label={`Copy: ${name}`}
              disabled={hasHidden(value)}
              onClick={() => onCopy(value, name)}
            >
              <Icon name="copy" />
            </button>
          </dd>
        </div>
      ))}
    </dl>
  );
}
