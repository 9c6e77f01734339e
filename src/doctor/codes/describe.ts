// Error codes and statuses in words.
import { CODES, type ErrorCode } from "../../core/errors.js";
import { likelyCauses } from "../../schemes/access-governance/likely-causes.js";
import { CODE_ADVICE } from "./code-advice.js";
import { type SurfaceText, textFor } from "./surface.js";
import { ITS_REDRIVE, ITS_WAIT, VERIFY } from "./texts-by-surface.js";

/** An error code of the library in words. */
export interface CodeDescription {
  /** The code itself, such as `SIGNATURE_MISMATCH`. */
  readonly code: ErrorCode;
  /** The HTTP status that a listener answers with; absent if no listener answers with this code. */
  readonly status?: number;
  /** What happened, in one sentence. A listener may put it into its answer. */
  readonly message: string;
  /** Why it usually happens. */
  readonly cause: string;
  /** What to do about it. */
  readonly fix: string;
}

/**
 * Every code that errors and verdicts of the library can have.
 *
 * @example
 * ```ts
 * import { errorCodes } from "hookproof/diagnose";
 *
 * errorCodes().includes("SIGNATURE_MISMATCH"); // true
 * ```
 */
export function errorCodes(): ErrorCode[] {
  return Object.keys(CODES) as ErrorCode[];
}

/**
 * What an error code means, why it usually happens and what to do; `undefined` for a text that is no code.
 *
 * @param surface where the words are read: in a program, on the command line, on the page of an outbox, or there of a
 * dead letter
 *
 * @example
 * ```ts
 * import { describeCode } from "hookproof/diagnose";
 *
 * const described = describeCode("EVENT_DUPLICATE");
 * described?.status; // 409
 * described?.fix; // "Nothing to do: …"
 * ```
 */
export function describeCode(
  code: string,
  surface: "library" | "command" | "outbox" | "dead" = "library",
): CodeDescription | undefined {
  if (!Object.hasOwn(CODES, code)) return undefined;
  const known = code as ErrorCode;
  const [status, message] = CODES[known];
  const [cause, fix] = CODE_ADVICE[known];
  return { code: known, ...(status === 0 ? {} : { status }), message, cause, fix: textFor(surface, fix) };
}

/** A status of the service in words. */
export interface StatusDescription {
  /** The status itself, such as 401. */
  readonly status: number;
  /** What it means, in one sentence. */
  readonly message: string;
  /**
   * What usually leads to it, the likeliest first; empty for a success, for 409, 429 and 431, whose message says it, and
   * where the service is at fault.
   */
  readonly causes: readonly string[];
  /** What to do about it. */
  readonly fix: string;
  /** The codes that a listener answers with this status. */
  readonly codes: readonly ErrorCode[];
}

/**
 * What a status of the service means, what usually leads to it and what to do; `undefined` for one that it never
 * answers.
 *
 * @param surface where the words are read: in a program, on the command line, on the page of an outbox, or there of a
 * dead letter
 *
 * @example
 * ```ts
 * import { describeStatus } from "hookproof/diagnose";
 *
 * describeStatus(401)?.codes.includes("SIGNATURE_MISMATCH"); // true
 * ```
 */
export function describeStatus(
  status: number,
  surface: "library" | "command" | "outbox" | "dead" = "library",
): StatusDescription | undefined {
  const advice = STATUS_ADVICE[status];
  if (advice === undefined) return undefined;
  const [message, fix] = advice;
  const isRefusal = status >= 400 && status < 500 && status !== 409 && status !== 429 && status !== 431;
  return {
    status,
    message,
    causes: isRefusal ? likelyCauses(status) : [],
    fix: textFor(surface, fix),
    codes: errorCodes().filter((code) => CODES[code][0] === status),
  };
}

const NOTHING = "Nothing to do.";

const SAME_ID = {
  library:
    "Send the same event again later, with the same id and a fresh timestamp: createSender does it by itself.",
  command: "Send the same event again later, with the same id and a fresh timestamp: hookproof replay last",
  outbox: ITS_WAIT,
  dead: ITS_REDRIVE,
};

/** What each status of the service means to a sender, and what to do about it (specification 7). */
const STATUS_ADVICE: Readonly<Record<number, readonly [message: string, fix: SurfaceText]>> = {
  200: ["The event was accepted, and its automation is triggered.", NOTHING],
  400: [
    "A header, the timestamp or the body is not as it must be.",
    {
      library:
        "The code in the answer names it: describeCode(code). hookproof doctor <url> compares the clocks.",
      command:
        "The code in the answer names it: hookproof explain <code>. hookproof doctor <url> compares the clocks.",
      outbox: "The code in the answer names it.",
    },
  ],
  401: [
    "The signature or the token was refused, or is missing.",
    {
      library:
        "Look for the sender's mistake with diagnose of hookproof/diagnose. If it finds none, look for the listener's with runProbes of hookproof/probes.",
      command:
        "Look for the sender's mistake: hookproof events export last | hookproof verify - --secret-file <path>. If that accepts it, look for the listener's: hookproof test <url>.",
      outbox: "Compare the listener's secret or key with the one in its settings; the outbox goes on trying.",
      dead: VERIFY.dead,
    },
  ],
  403: [
    "The source address is not allowed.",
    "Send from an address that the listener allows, or allow this one.",
  ],
  404: [
    "There is no such listener, or its trigger is not active.",
    "Copy the URL from the trigger's configuration, and publish and enable the automation.",
  ],
  405: [
    "Another method than POST was sent.",
    "Send POST, to the listener's final URL: a redirect turns it into GET.",
  ],
  409: [
    "The event id was processed before; the automation did not run again.",
    "Nothing to do: a sender takes it for success. A new event needs a new id.",
  ],
  413: ["The body has more than 65,536 bytes.", "Send an id, and let the automation fetch the rest."],
  415: [
    "The body is not announced as JSON, or it is compressed.",
    "Send Content-Type: application/json and no Content-Encoding.",
  ],
  429: ["Too many requests came in a short time.", SAME_ID],
  431: ["The request has too many header lines.", "Send fewer headers; look for a proxy that adds them."],
  500: ["The service failed.", SAME_ID],
  502: ["A proxy got no valid answer from the service.", SAME_ID],
  503: ["The service cannot accept events right now, or is still busy with this one.", SAME_ID],
  504: ["A proxy got no answer from the service in time.", SAME_ID],
};
