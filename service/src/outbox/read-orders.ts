// Reads and checks what the page asks of an outbox.
import { recordOf } from "../inspector/entry-line.js";
import { InspectorError } from "../inspector/inspector-error.js";
import type { RedriveOrder } from "./contract.js";

const REASONS = ["refused", "attempts", "window", "unsendable"] as const;
const MAX_REASON_LENGTH = 200;

/** Reads which dead letters are meant, and whether they are only counted. */
export function readRedrive(value: unknown): RedriveOrder {
  const { listener, reason, code, dryRun, newIds = false } = recordOf(value) ?? {};
  const known = REASONS.find((one) => one === reason);
  if (known === undefined) throw invalid(`reason is one of ${REASONS.join(", ")}.`);
  if (typeof code !== "string" || !/^[A-Z_]{1,64}$/.test(code))
    throw invalid("code is a code of a dead letter.");
  if (typeof dryRun !== "boolean" || typeof newIds !== "boolean")
    throw invalid("dryRun and newIds are true or false.");
  return { listener: nameOf(listener), reason: known, code, dryRun, newIds };
}

/** Reads which listener is paused or resumed, and why. */
export function readPause(value: unknown): { listener: string; reason: string | undefined } {
  const { listener, reason } = recordOf(value) ?? {};
  if (reason !== undefined && !(isText(reason) && reason.length <= MAX_REASON_LENGTH))
    throw invalid(`reason is a text of 1 to ${MAX_REASON_LENGTH} characters.`);
  return { listener: nameOf(listener), reason };
}

/** A listener's name, as databases can hold it. */
export function nameOf(value: unknown): string {
  if (isText(value) && value.length <= 1_000) return value;
  throw invalid("listener is a listener's name.");
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "" && value.isWellFormed() && !value.includes("\0");
}

function invalid(message: string): InspectorError {
  return new InspectorError(400, "ORDER_INVALID", message);
}
