// The receiving side of PROTOCOL.md for HMAC listeners, written from that page and from nothing of the library's, so
// that a mistake of the library cannot hide another one.
import { createHmac, timingSafeEqual } from "node:crypto";

export interface ReceivedRequest {
  readonly method: string;
  readonly url?: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Uint8Array;
}

export interface Answer {
  readonly status: number;
  readonly code?: string;
  /** Instead of one with the code. */
  readonly body?: string;
  readonly retryAfterS?: number;
  /** The event itself is refused: it is poisoned. */
  readonly isFinal?: boolean;
}

export interface ReceiverOptions {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly after: (ms: number, run: () => void) => void;
  /** The secrets that are good at the moment. */
  readonly secrets: () => readonly string[];
  /** How long an automation takes until it has durably accepted an event. */
  readonly runMs: () => number;
  readonly onRun: (id: string, body: Uint8Array) => void;
}

const DAY_MS = 86_400_000;
const UUID_V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;
const MAX_BYTES = 65_536;
const COPY_WAITS_MS = 5_000;

/** One listener of the service. */
export class ReferenceReceiver {
  readonly #options: ReceiverOptions;
  /** When each id was accepted. */
  readonly #accepted = new Map<string, number>();
  /** Who waits for the outcome of an id in flight. */
  readonly #inFlight = new Map<string, ((isAccepted: boolean) => void)[]>();

  constructor(options: ReceiverOptions) {
    this.#options = options;
  }

  receive(request: ReceivedRequest, reply: (answer: Answer) => void): void {
    const refusal = this.#refusal(request) ?? this.#copy(request, reply);
    if (refusal === "waits") return;
    if (refusal) reply(refusal);
    else this.#run(request, reply);
  }

  /** Step 7: of an id that is known the answer, or a wait for it. */
  #copy(request: ReceivedRequest, reply: (answer: Answer) => void): Answer | "waits" | undefined {
    const { now, after } = this.#options;
    const id = idOf(request);
    const acceptedAt = this.#accepted.get(id);
    if (acceptedAt !== undefined && now() - acceptedAt < 7 * DAY_MS)
      return { status: 409, code: "ALREADY_PROCESSED" };
    const waiting = this.#inFlight.get(id);
    if (!waiting) return undefined;
    let isOver = false;
    const end = (answer: Answer) => {
      if (!isOver) reply(answer);
      isOver = true;
    };
    waiting.push((isAccepted) =>
      end(isAccepted ? { status: 409, code: "ALREADY_PROCESSED" } : { status: 503, retryAfterS: 1 }),
    );
    after(COPY_WAITS_MS, () => end({ status: 503, retryAfterS: 1 }));
    return "waits";
  }

  /** Step 8. */
  #run(request: ReceivedRequest, reply: (answer: Answer) => void): void {
    const { now, after, runMs, onRun } = this.#options;
    const id = idOf(request);
    this.#inFlight.set(id, []);
    after(runMs(), () => {
      this.#accepted.set(id, now());
      onRun(id, request.body);
      const copies = this.#inFlight.get(id) ?? [];
      this.#inFlight.delete(id);
      reply({ status: 200 });
      for (const tell of copies) tell(true);
    });
  }

  /** Steps 0 to 6, in their order. */
  #refusal(request: ReceivedRequest): Answer | undefined {
    const { method, headers, body } = request;
    if (method !== "POST") return { status: 405 };
    if (body.length > MAX_BYTES) return { status: 413 };
    const [timestamp, id] = [only(request, "webhook-timestamp"), only(request, "webhook-event-id")];
    const type = only(request, "content-type");
    if (timestamp === undefined || id === undefined || type === undefined) return { status: 400 };
    if (!/^(0|[1-9][0-9]{0,14})$/.test(timestamp) || !UUID_V4.test(id)) return { status: 400 };
    if (Math.abs(Math.floor(this.#options.now() / 1000) - Number(timestamp)) > 300)
      return { status: 400, code: "TIMESTAMP_OUT_OF_WINDOW" };
    const signature = only(request, "webhook-signature");
    if (signature === undefined || !this.#isSigned(signature, `${timestamp}.${id}.`, body))
      return { status: 401 };
    if (!/^application\/json\s*(;|$)/i.test(type)) return { status: 415 };
    if (headers.some(([name]) => name.toLowerCase() === "content-encoding")) return { status: 415 };
    try {
      JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(body));
    } catch {
      return { status: 400 };
    }
    return undefined;
  }

  #isSigned(signature: string, head: string, body: Uint8Array): boolean {
    if (!/^[A-Za-z0-9_-]{43}$/.test(signature)) return false;
    return this.#options
      .secrets()
      .map((secret) => createHmac("sha256", secret).update(head).update(body).digest("base64url"))
      .map((wanted) => timingSafeEqual(Buffer.from(wanted), Buffer.from(signature)))
      .includes(true);
  }
}

function idOf(request: ReceivedRequest): string {
  return (only(request, "webhook-event-id") ?? "").toLowerCase();
}

/** A header that stands there once. */
function only({ headers }: ReceivedRequest, wanted: string): string | undefined {
  const found = headers.filter(([name]) => name.toLowerCase() === wanted);
  return found.length === 1 ? found[0]?.[1] : undefined;
}
