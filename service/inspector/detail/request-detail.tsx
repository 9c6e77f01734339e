import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import type { RequestDetail } from "../../src/inspector/contract.js";
import { kindOf } from "../parts/answer-kind.js";
import { StatusBadge } from "../parts/status-badge.js";
import { VisibleText } from "../parts/visible-text.js";
import { dateAndTime } from "../text/time.js";
import { Body } from "./body.js";
import { Exchange } from "./exchange.js";
import { FirstDelivery } from "./first-delivery.js";
import { Mistakes } from "./mistakes.js";
import { Run } from "./run.js";
import { Signature } from "./signature.js";
import { Steps } from "./steps.js";
import { Token } from "./token.js";

interface DetailProps {
  readonly detail: RequestDetail;
  /** The buttons of this request. */
  readonly actions: ComponentChildren;
  onChoose(n: number): void;
}

/** One request: what was decided, why, and everything it was decided by. */
export function Detail({ detail, actions, onChoose }: DetailProps) {
  const code = detail.steps.find(({ state }) => state === "failed")?.code ?? detail.code;
  // Kept while menus open and close: a body can have thousands of pieces.
  const content = useMemo(() => <Content detail={detail} onChoose={onChoose} />, [detail, onChoose]);
  return (
    <article aria-labelledby="verdict">
      <header class={`summary ${kindOf(detail.status)}`}>
        <StatusBadge status={detail.status} />
        <div>
          <h2 id="verdict">
            <VisibleText text={detail.mistakes.length > 0 && code ? code : detail.reason} />
          </h2>
          <p class="note">
            #{detail.n} · <time dateTime={new Date(detail.at).toISOString()}>{dateAndTime(detail.at)}</time> ·{" "}
            {detail.durationMs} ms
          </p>
          {detail.eventId !== undefined && (
            <p class="mono event-id">
              <VisibleText text={detail.eventId} />
            </p>
          )}
        </div>
        <div class="actions">{actions}</div>
      </header>
      {content}
    </article>
  );
}

function Content({ detail, onChoose }: Omit<DetailProps, "actions">) {
  return (
    <>
      {detail.verdictStatus !== undefined && (
        <p class="remark">
          This answer was forced. Without that it would have been <b>{detail.verdictStatus}</b>; checks and
          run took place as always.
        </p>
      )}
      {detail.masked && (
        <p class="remark">The listener’s secret stood in this request. It is hidden here behind asterisks.</p>
      )}
      <Mistakes mistakes={detail.mistakes} />
      <div class="columns">
        <div>
          <Steps steps={detail.steps} />
          {detail.run && <Run run={detail.run} bodyBase64={detail.bodyBase64} />}
        </div>
        <div>
          {detail.first && (
            <FirstDelivery first={detail.first} bodyBase64={detail.bodyBase64} onChoose={onChoose} />
          )}
          {detail.hmac && <Signature hmac={detail.hmac} />}
          {detail.token && <Token token={detail.token} />}
          <Body bodyBase64={detail.bodyBase64} bodyBytes={detail.bodyBytes} bodySha256={detail.bodySha256} />
          <Exchange detail={detail} />
        </div>
      </div>
    </>
  );
}
