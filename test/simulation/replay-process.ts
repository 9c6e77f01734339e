import {
  createReceiver,
  type Receiver,
  type ReplayStore,
  type Reservation,
  type Run,
} from "hookproof/receiver";
import type { DrawnClock } from "./clocks.js";
import type { Random } from "./random.js";
import type { ReplayAccess, ReplayWorldParts } from "./replay-engine.js";
import { type ReplayLedger, shortened, THREW } from "./replay-ledger.js";
import type { ReplayFault } from "./replay-plan.js";
import { CALL_MS } from "./replay-server.js";

/** A request as it is on the wire. */
export interface WireRequest {
  readonly listener: string;
  readonly id: string;
  /** Unix seconds. */
  readonly timestamp: number;
  readonly signature: string;
  readonly body: string;
  /** Whether somebody has changed it on its way. */
  readonly isForged: boolean;
}

export interface WireAnswer {
  readonly status: number;
  readonly code?: string;
}

export const SECRET = "WzEsMiwzLDQsNSw2LDcsOCw5LDEwLDExLDEyLDEzXSE";
const TOLERANCE_S = 300;

interface ProcessContext extends ReplayWorldParts {
  readonly random: Random;
  readonly clock: DrawnClock;
  /** How long processes have been paused until now. */
  readonly pausedMs: () => number;
}

/** A process of the receiving side: the real receiver of each listener, and an automation whose runs go wrong. */
export class ReceiverProcess {
  readonly #owner: string;
  readonly #access: ReplayAccess;
  readonly #context: ProcessContext;

  constructor(owner: string, access: ReplayAccess, context: ProcessContext) {
    this.#owner = owner;
    this.#access = access;
    this.#context = context;
  }

  /** Takes a request in; `fault` is what goes wrong with its run. */
  async receive(request: WireRequest, fault: ReplayFault | undefined): Promise<WireAnswer> {
    const { listener, id, timestamp, signature, body } = request;
    const { time, ledger, trace, pausedMs, clock } = this.#context;
    const [from, pausedBefore] = [time.now, pausedMs()];
    const offS = Math.floor(clock.now() / 1000) - timestamp;
    const call = new Call(this.#access.store, ledger);
    const receiver = this.#receiver(listener, call);
    const run: Run = async (event, reservation) => {
      call.reservation = reservation;
      const what = `${this.#owner} runs ${shortened(event.id)}`;
      if (request.isForged) ledger.break("forged", what);
      if (Math.abs(offS) > TOLERANCE_S) ledger.break("window", `${what}, ${offS} s old`);
      if (new TextDecoder().decode(event.body) !== body || event.id !== id.toLowerCase())
        ledger.break("bytes", what);
      await this.#run(reservation, fault, call);
    };
    const answer = await receiver.receive(
      {
        method: "POST",
        url: `/api/v1/webhooks/incoming/${listener}`,
        headers: [
          ["Webhook-Timestamp", String(timestamp)],
          ["Webhook-Event-Id", id],
          ["Webhook-Signature", signature],
          ["Content-Type", "application/json"],
        ],
        body,
      },
      run,
    );
    const { code } = JSON.parse(answer.body) as { code?: string };
    const { status } = answer;
    trace.add(this.#owner, "answers", listener, id, status, code);
    const { reservation, hasFailed } = call;
    const known = { listener, id: id.toLowerCase(), status, code };
    ledger.answered(this.#owner, known, reservation && { reservation, hasFailed });
    const waited = time.now - from - (pausedMs() - pausedBefore);
    // Two calls: the one that is under way when the wait is over, and the one that ends it.
    const most = this.#context.plan.inFlightWaitMs + 2 * CALL_MS + 200;
    if (!call.hasReserved && waited > most)
      ledger.break("patience", `${this.#owner} answered ${shortened(id)} after ${Math.round(waited)} ms`);
    return { status, ...(code !== undefined && { code }) };
  }

  #receiver(listener: string, replayStore: ReplayStore): Receiver {
    const { clock, plan, spells } = this.#context;
    return createReceiver({
      listener: {
        id: listener,
        baseUrl: "https://receiver.example",
        auth: { method: "hmac", secret: SECRET },
      },
      replayStore,
      clock,
      inFlightWaitMs: plan.inFlightWaitMs,
      isTriggerActive: () => {
        if (spells.isOn("trigger fails")) throw new Error("the trigger cannot be read");
        return !spells.isOn("trigger is inactive");
      },
    });
  }

  async #run(reservation: Reservation, fault: ReplayFault | undefined, call: Call): Promise<void> {
    const { plan, ledger, random } = this.#context;
    const { reservationMs, inTransaction } = plan;
    if (fault === "run never ends") await new Promise(() => {});
    const isSlow = fault === "slow run";
    await this.#sleep(
      isSlow ? random.between(0.5, 3) * reservationMs : random.between(0, reservationMs / 20),
    );
    if (fault === "run fails before its work" || (isSlow && random.chance(0.4)))
      throw new Error("before its work");
    if (inTransaction) await call.noted(reservation, this.#access.inTransaction(reservation));
    else ledger.ran(this.#owner, reservation);
    if (fault !== "run fails after its work") return;
    ledger.excuse(reservation, THREW);
    throw new Error("after its work");
  }

  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#context.time.after(ms, this.#owner, resolve));
  }
}

/** The store as one request has it. */
class Call implements ReplayStore {
  hasReserved = false;
  hasFailed = false;
  reservation: Reservation | undefined;
  readonly #inner: ReplayStore;
  readonly #ledger: ReplayLedger;

  constructor(inner: ReplayStore, ledger: ReplayLedger) {
    this.#inner = inner;
    this.#ledger = ledger;
  }

  async reserve(listener: string, id: string): ReturnType<ReplayStore["reserve"]> {
    const result = await this.#inner.reserve(listener, id);
    if (result.state === "reserved") {
      this.hasReserved = true;
      this.reservation = result.reservation;
    }
    return result;
  }

  commit = (reservation: Reservation) => this.noted(reservation, this.#inner.commit(reservation));

  release = (reservation: Reservation) => this.noted(reservation, this.#inner.release(reservation));

  async noted(reservation: Reservation, work: Promise<void>): Promise<void> {
    try {
      await work;
    } catch (error) {
      this.hasFailed = true;
      this.#ledger.excuse(reservation, "the store failed");
      throw error;
    }
  }
}
