// Reads and checks what the page asks of an outbox.
import { orderBy, orderOf } from "../page/order-schema.js";
import type { RedriveOrder } from "./contract.js";

const REASONS = ["refused", "attempts", "window", "unsendable"] as const;
const MAX_REASON_LENGTH = 200;

/** A text that databases can hold: one letter or more, without NUL and halves of surrogate pairs. */
const TEXT = { type: "string", pattern: "^[^\\u0000\\ud800-\\udfff]+$" };

const NAME = { ...TEXT, maxLength: 1_000, says: "listener is a listener's name." };
const FLAG = { type: "boolean", says: "dryRun and newIds are true or false." };

const REDRIVE = orderOf(
  {
    reason: { enum: REASONS, says: `reason is one of ${REASONS.join(", ")}.` },
    code: { type: "string", pattern: "^[A-Z_]{1,64}$", says: "code is a code of a dead letter." },
    dryRun: FLAG,
    newIds: FLAG,
    listener: NAME,
  },
  ["reason", "code", "dryRun", "listener"],
  { says: `reason is one of ${REASONS.join(", ")}.` },
);

/** Reads which dead letters are meant, and whether they are only counted. */
export async function readRedrive(value: unknown): Promise<RedriveOrder> {
  return { newIds: false, ...(await orderBy<RedriveOrder>(value, REDRIVE)) };
}

const PAUSE = orderOf(
  {
    listener: NAME,
    reason: {
      ...TEXT,
      maxLength: MAX_REASON_LENGTH,
      says: `reason is a text of 1 to ${MAX_REASON_LENGTH} characters.`,
    },
  },
  ["listener"],
  { says: NAME.says },
);

/** Reads which listener is paused or resumed, and why. */
export const readPause = (value: unknown): Promise<{ listener: string; reason?: string }> =>
  orderBy(value, PAUSE);

/** A listener's name, as databases can hold it. */
export const nameOf = (value: unknown): Promise<string> => orderBy(value, NAME);
