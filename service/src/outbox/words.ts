// Says in words what failed at a listener.
import { describeCode } from "hookproof/diagnose";
import type { OutboxAttempt } from "hookproof/outbox";
import type { AttemptView, Failure, Words } from "./contract.js";

/** What a failed attempt comes to in words: what the receiver said counts more than that it refused. */
export function wordsOf({
  code,
  receiverCode,
  isDead = false,
}: {
  readonly code?: string | undefined;
  readonly receiverCode?: string | undefined;
  /** Whether it is of a dead letter, which is not sent again by itself. */
  readonly isDead?: boolean;
}): Words | undefined {
  const surface = isDead ? "dead" : "outbox";
  const described = describeCode(receiverCode ?? "", surface) ?? describeCode(code ?? "", surface);
  if (!described) return undefined;
  const { code: known, message, cause, fix } = described;
  return { code: known, message, cause, fix };
}

/** The code in an answer that is the beginning of JSON. */
export function codeIn(answer: string | undefined): string | undefined {
  return /"code" ?: ?"([A-Z_]{1,64})"/.exec(answer ?? "")?.[1];
}

/** An attempt with its words, without what is not of its type: others may write to the database too. */
export function attemptView(attempt: OutboxAttempt, isDead: boolean): AttemptView {
  const { number, startedAt, durationMs, status, corrected } = attempt;
  const [code, receiverCode, answer] = [attempt.code, attempt.receiverCode, attempt.answer].map(textOf);
  const words =
    code === undefined ? undefined : wordsOf({ code, receiverCode: receiverCode ?? codeIn(answer), isDead });
  return {
    number: numberOf(number),
    startedAt: numberOf(startedAt),
    durationMs: numberOf(durationMs),
    ...(Number.isInteger(status) ? { status: status as number } : {}),
    ...(code === undefined ? {} : { code }),
    ...(answer === undefined ? {} : { answer }),
    ...(Array.isArray(corrected) ? { corrected: corrected.flatMap((one) => textOf(one) ?? []) } : {}),
    ...(words ? { words } : {}),
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function numberOf(value: unknown): number {
  return typeof value === "number" ? value : 0;
}

/** A failed attempt as the page shows it. */
export function failureOf(
  attempt: OutboxAttempt,
  { eventId, isDead }: { readonly eventId: string; readonly isDead: boolean },
): Failure | undefined {
  const { startedAt, durationMs, code, status, answer, words } = attemptView(attempt, isDead);
  if (code === undefined) return undefined;
  return {
    at: startedAt + durationMs,
    code,
    eventId,
    ...(status === undefined ? {} : { status }),
    ...(answer === undefined ? {} : { answer }),
    ...(words ? { words } : {}),
  };
}
