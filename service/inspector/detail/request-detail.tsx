// Shows one request in full.
import type { ComponentChildren } from "preact";
import { useCallback, useMemo, useRef } from "preact/hooks";
import { isForced, type RequestDetail } from "../../src/inspector/contract.js";
import type { Api } from "../live/api.js";
import { Age } from "../parts/age.js";
import { kindOf } from "../parts/answer-kind.js";
import { StatusBadge } from "../parts/status-badge.js";
import { VisibleText } from "../parts/visible-text.js";
import { dateAndTime } from "../text/time.js";
import { Body } from "./body.js";
import { Exchange } from "./exchange.js";
import { FirstDelivery } from "./first-delivery.js";
import { ForwardedCard } from "./forwarded.js";
import { Mistakes } from "./mistakes.js";
import { NoteLine } from "./note-line.js";
import { Run } from "./run.js";
import { Signature } from "./signature.js";
import { SignedBy } from "./signed-by.js";
import { Steps } from "./steps.js";
import { Token } from "./token.js";

interface DetailProps {
  readonly detail: RequestDetail;
  /** The buttons of this request. */
  readonly actions: ComponentChildren;
  readonly debug: Api["debug"];
  nowMs(): number;
  onChoose(n: number): void;
  onNote(note: string): void;
  onCopy(text: string, what: string): void;
}

/** One request: what was decided, why, and everything it was decided by. */
export function Detail({ detail, actions, debug, nowMs, onChoose, onNote, onCopy }: DetailProps) {
  const copy = useRef(onCopy);
  copy.current = onCopy;
  const copyNow = useCallback((text: string, what: string) => copy.current(text, what), []);
  // Kept while menus open and close: a body can have thousands of pieces.
  const content = useMemo(
    () => <Content detail={detail} debug={debug} onChoose={onChoose} onCopy={copyNow} />,
    [detail, debug, onChoose, copyNow],
  );
  return (
    <article aria-labelledby="verdict">
      <header class={`summary ${kindOf(detail.status)}`}>
        <StatusBadge status={detail.status} />
        <div>
          <h2 id="verdict">
            <Title text={titleOf(detail)} />
          </h2>
          <p class="note">
            #{detail.n} · <time dateTime={new Date(detail.at).toISOString()}>{dateAndTime(detail.at)}</time> ·{" "}
            <Age at={detail.at} nowMs={nowMs} /> · {detail.durationMs} ms
          </p>
          {detail.eventId !== undefined && (
            <p class="mono event-id">
              <VisibleText text={detail.eventId} />
            </p>
          )}
          <NoteLine note={detail.note} onNote={onNote} />
        </div>
        <div class="actions">{actions}</div>
      </header>
      {content}
    </article>
  );
}

/** A code is broken where its words end, and not in one of them. */
function Title({ text }: { text: string }) {
  if (!/^[A-Z][A-Z0-9_]+$/.test(text)) return <VisibleText text={text} />;
  return text.split("_").map((word, at) => (
    <>
      {at > 0 && "_"}
      {at > 0 && <wbr />}
      {word}
    </>
  ));
}

/** The code where mistakes explain it in words; the event where it was accepted. */
function titleOf({ steps, mistakes, code, eventType, reason, isUnread }: RequestDetail): string {
  if (isUnread) return reason;
  if (code === undefined) return eventType ?? reason;
  return mistakes.length > 0 ? (steps.find(({ state }) => state === "failed")?.code ?? code) : reason;
}

/** The body comes first where a request was accepted or repeats another; what is wrong comes first where it was refused. */
function Content({
  detail,
  debug,
  onChoose,
  onCopy,
}: Pick<DetailProps, "detail" | "debug" | "onChoose" | "onCopy">) {
  const { hmac, signed, token, first, run, bodyBase64 } = detail;
  const isRefused = detail.steps.some(({ state, step }) => state === "failed" && step !== "replay");
  const verdict = (
    <>
      {detail.steps.length > 0 && <Steps steps={detail.steps} />}
      {hmac && <Signature hmac={hmac} cutAt={detail.isCut ? detail.bodyBytes : undefined} />}
      {signed && <SignedBy signed={signed} steps={detail.steps} />}
      {token && <Token token={token} />}
      {run && <Run run={run} bodyBase64={bodyBase64} debug={debug} />}
    </>
  );
  const content = (
    <>
      {first && <FirstDelivery first={first} bodyBase64={bodyBase64} onChoose={onChoose} />}
      <Body {...detail} />
    </>
  );
  return (
    <>
      {isForced(detail) && (
        <p class="remark">
          This answer was forced. Without that it would have been{" "}
          <b>{detail.forwardedStatus || detail.verdictStatus}</b>; checks and run took place as always.
        </p>
      )}
      {detail.masked && (
        <p class="remark">The listener’s secret stood in this request. It is hidden here behind asterisks.</p>
      )}
      {detail.isUnread && (
        <p class="remark">
          No listener saw this request: the server refused it before. <span class="mono">{detail.code}</span>
        </p>
      )}
      <Mistakes detail={detail} onCopy={onCopy} />
      {detail.forwarded && <ForwardedCard forwarded={detail.forwarded} />}
      <div class={`columns ${isRefused ? "verdict-first" : ""}`}>
        {isRefused && <div class="verdict">{verdict}</div>}
        <div class="content">{content}</div>
        {!detail.isUnread && (
          <div class="exchange">
            <Exchange detail={detail} />
          </div>
        )}
        {!isRefused && <div class="verdict">{verdict}</div>}
      </div>
    </>
  );
}
