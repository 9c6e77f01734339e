// Answers the requests of a local listener, and reports each in its turn.

import { setTimeout as wait } from "node:timers/promises";
import type { ReceiverAnswer, ReplayStore } from "hookproof/receiver";
import type { HandledRequest } from "hookproof-service/listeners";
import type { Args, Context } from "../command.js";
import { INGESTION_PATH } from "../config/settings.js";
import type { Expecting } from "./expecting.js";
import type { Inspecting } from "./inspecting.js";
import {
  type Forwarded,
  type Forwarding,
  forward,
  inItsPlace,
  isTaken,
  type Reporting,
  reportElsewhere,
  reportRequest,
} from "./report-request.js";

/** What the flags say of the listener. */
export interface ChosenListener {
  readonly id: string;
  readonly expecting: Expecting;
  readonly forwarding: Forwarding | undefined;
  readonly behaving: ((answer: ReceiverAnswer) => ReceiverAnswer) | undefined;
}

/** Where a listener gets its requests. */
export function urlOf(baseUrl: string, id: string): string {
  return `${baseUrl}${INGESTION_PATH}${id}`;
}

/** The requests that arrive: what answers them, and a report of each, in their order. */
export class ReportedRequests {
  readonly #context: Context;
  readonly #listener: ChosenListener;
  readonly #until: number | undefined;
  readonly #forwarded = new WeakMap<HandledRequest["request"], Forwarded>();
  readonly #counts = new Map<number, number>();
  readonly #enough = new AbortController();
  #reported = Promise.resolve();
  #n = 0;

  constructor(context: Context, listener: ChosenListener) {
    this.#context = context;
    this.#listener = listener;
    this.#until = context.args.number("until");
  }

  /** Aborted after as many requests as --until says. */
  get ended(): AbortSignal {
    return this.#enough.signal;
  }

  readonly end = () => this.#enough.abort();

  async setup(baseUrl: string, inspector: Inspecting["inspector"]) {
    const { args } = this.#context;
    const { id, expecting, forwarding, behaving } = this.#listener;
    const forwards = forwarding !== undefined;
    const allowedCidrs = args.texts("allow-cidr");
    return {
      ...(await expecting.listener({ id, baseUrl, allowedCidrs, forwards })),
      trustedProxies: args.texts("trust-proxy"),
      ...(await replayOptions(args.number("respond"))),
      ...(forwarding && { run: this.#forwardingTo(forwarding, inspector) }),
      beforeAnswer: (answer: ReceiverAnswer, request: HandledRequest["request"]) => {
        const given = inItsPlace(answer, this.#forwarded.get(request));
        return changed(args, behaving?.(given) ?? given);
      },
    };
  }

  #forwardingTo(forwarding: Forwarding, inspector: Inspecting["inspector"]) {
    return async (_event: unknown, _reservation: unknown, request: HandledRequest["request"]) => {
      const answered = await forward(this.#context, request, forwarding);
      this.#forwarded.set(request, answered);
      inspector?.forwarded(request, { url: forwarding.url, ...answered });
      if (!isTaken(answered)) throw new Error("the application did not take the event");
    };
  }

  add(handled: HandledRequest, baseUrl: string): void {
    const { id, expecting } = this.#listener;
    const where = { id, baseUrl };
    const reporting: Reporting = {
      mistakes: ({ request, receivedAt }) => expecting.mistakes(request, where, receivedAt),
      forwarded: (request) => this.#forwarded.get(request),
    };
    this.#count(handled.status, (n) => reportRequest(this.#context, n, handled, reporting));
  }

  addElsewhere(request: Parameters<typeof reportElsewhere>[2], baseUrl: string): void {
    const url = urlOf(baseUrl, this.#listener.id);
    this.#count(request.status, (n) => reportElsewhere(this.#context, n, request, url));
  }

  /** Reports one after another, so that the lines are in the order of the requests. */
  #count(status: number, report: (n: number) => void | Promise<void>): void {
    const n = ++this.#n;
    this.#counts.set(status, (this.#counts.get(status) ?? 0) + 1);
    this.#reported = this.#reported.then(() => report(n));
    if (this.#until !== undefined && n >= this.#until) this.end();
  }

  /** How many there were by their status, once each is reported. */
  async counts(): Promise<ReadonlyMap<number, number>> {
    await this.#reported;
    return this.#counts;
  }
}

/**
 * Where --respond refuses an event, its id stays free as after any answer that accepts nothing: else the next try would
 * be a duplicate, and the sender would take it for delivered.
 */
async function replayOptions(respond: number | undefined): Promise<{ replayStore?: ReplayStore }> {
  const isAccepted = respond === undefined || respond < 300 || respond === 409;
  if (isAccepted) return {};
  const { memoryReplayStore } = await import("hookproof/receiver");
  const store = memoryReplayStore();
  return { replayStore: { ...store, commit: (reservation) => store.release(reservation) } };
}

/** The answer as --delay and --respond have it. */
async function changed(args: Args, answer: ReceiverAnswer): Promise<ReceiverAnswer> {
  const [delayMs, status] = [args.durationMs("delay"), args.number("respond")];
  if (delayMs !== undefined) await wait(delayMs);
  return status === undefined || !answer.verdict.ok ? answer : { ...answer, status };
}
