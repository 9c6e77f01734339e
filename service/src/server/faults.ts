// Faults that operations have on purpose.
import type { Request, Response } from "express";
import type { Clock } from "hookproof";
import type { Schema } from "../api/openapi-document.js";
import { FAULT_OPERATION_IDS, type OperationId } from "../api/operations.js";
import { violationsOf } from "../api/validation.js";
import { faultBody } from "./fault-body.js";
import { refuseUnknown } from "./options.js";
import { sendJson } from "./send-json.js";

/** One way in which an operation goes wrong on purpose. */
export interface FaultAnswer {
  /** Answers with this status, from 200 to 599, instead of the operation. */
  status?: number | undefined;
  /** The JSON of that answer; by default the operation's own shape of an error. */
  body?: unknown;
  /** Waits first, in milliseconds; without a status the operation is done after it. */
  delayMs?: number | undefined;
  /** Cuts the connection instead of answering. */
  disconnect?: boolean | undefined;
  /** Answers with JSON that ends in the middle, under `status` or 200. */
  malformed?: boolean | undefined;
  /** The header `Retry-After`, in seconds; 1 by default for 429 and 503. */
  retryAfterSeconds?: number | undefined;
  /** How many requests it is for: all of them by default, one as a part of a sequence. */
  times?: number | undefined;
}

/** What goes wrong with an operation on purpose. */
export interface Fault extends FaultAnswer {
  /** Several, one after another; then the operation works again. A part without anything lets requests pass. */
  sequence?: readonly FaultAnswer[] | undefined;
  /** Lets so many requests pass in each window, and answers the others with 429. */
  rateLimit?: { requests: number; windowMs: number } | undefined;
}

/** Faults by operation, which can be set while the service runs. */
export interface Faults {
  /** Replaces what was set for the operation; `undefined` takes it away. */
  set(operation: OperationId, fault: Fault | undefined): void;
  /** What is set now. */
  list(): { operation: OperationId; fault: Fault }[];
  /** Goes back to the faults of the start, or to none. */
  reset(to: "start" | "none"): void;
  /** Waits and fails as it is set; true if the request has been answered by that. */
  answered(operation: OperationId, req: Request, res: Response): Promise<boolean>;
  /** Ends the waits under way. */
  stop(): void;
}

/** What is set for an operation, and how far it is. */
interface Active {
  readonly fault: Fault;
  readonly parts: { answer: FaultAnswer; left: number }[];
  window: { since: number; requests: number };
}

const KNOWN_OPERATIONS = Object.fromEntries(FAULT_OPERATION_IDS.map((id) => [id, true as const]));
const ANSWER = {
  status: true,
  body: true,
  delayMs: true,
  disconnect: true,
  malformed: true,
  retryAfterSeconds: true,
  times: true,
} as const satisfies Record<keyof FaultAnswer, true>;

interface FaultsOptions {
  readonly clock: Clock;
  readonly latencyMs?: number | undefined;
  readonly start?: Partial<Record<OperationId, Fault>> | undefined;
}

/**
 * Faults, and a latency every operation has.
 *
 * @throws {RangeError} for a number that is out of range; {TypeError} for a name that is not known
 */
export function createFaults(options: FaultsOptions): Faults {
  return new OperationFaults(options);
}

class OperationFaults implements Faults {
  readonly #clock: Clock;
  readonly #latencyMs: number;
  readonly #start: Partial<Record<OperationId, Fault>>;
  readonly #active = new Map<OperationId, Active>();
  readonly #waits = new Set<() => void>();

  constructor({ clock, latencyMs = 0, start = {} }: FaultsOptions) {
    if (latencyMs !== 0) checkAs(DELAY, latencyMs, "latencyMs");
    this.#clock = clock;
    this.#latencyMs = latencyMs;
    this.#start = start;
    this.reset("start");
  }

  set(operation: OperationId, fault: Fault | undefined): void {
    refuseUnknown("setFault", { [operation]: fault }, KNOWN_OPERATIONS);
    if (fault) checkFault(fault);
    this.#active.delete(operation);
    if (!fault) return;
    const { sequence, rateLimit, ...single } = fault;
    const parts = (sequence ?? (rateLimit ? [] : [single])).map((answer) => ({
      answer,
      left: answer.times ?? (sequence ? 1 : Number.POSITIVE_INFINITY),
    }));
    const window = { since: Number.NEGATIVE_INFINITY, requests: 0 };
    this.#active.set(operation, { fault, parts, window });
  }

  list(): { operation: OperationId; fault: Fault }[] {
    return [...this.#active].map(([operation, { fault }]) => ({ operation, fault }));
  }

  reset(to: "start" | "none"): void {
    this.#active.clear();
    if (to !== "start") return;
    for (const [operation, fault] of Object.entries(this.#start))
      try {
        this.set(operation as OperationId, fault);
      } catch (error) {
        const { message } = error as Error;
        throw Object.assign(error as Error, { message: `faults.${operation}: ${message}` });
      }
  }

  async answered(operation: OperationId, req: Request, res: Response): Promise<boolean> {
    const answer = this.#next(operation);
    const ms = this.#latencyMs + (answer?.delayMs ?? 0);
    if (ms > 0) await this.#wait(ms);
    if (answer === undefined) return false;
    if (answer.status === undefined && !answer.malformed && !answer.disconnect) return false;
    res.locals.isFault = true;
    if (answer.disconnect) {
      req.socket.destroy();
      return true;
    }
    send(operation, answer, req, res);
    return true;
  }

  stop(): void {
    for (const done of this.#waits) done();
  }

  /** The answer that is due for the next request of an operation, which is counted. */
  #next(operation: OperationId): FaultAnswer | undefined {
    const found = this.#active.get(operation);
    if (!found) return undefined;
    if (found.fault.rateLimit) return limited(found, this.#clock.now());
    const [part] = found.parts;
    if (part && --part.left <= 0) found.parts.shift();
    if (found.parts.length === 0) this.#active.delete(operation);
    return part?.answer;
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.#waits.delete(done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      this.#waits.add(done);
    });
  }
}

function limited(found: Active, now: number): FaultAnswer | undefined {
  const { requests, windowMs } = found.fault.rateLimit as NonNullable<Fault["rateLimit"]>;
  const age = now - found.window.since;
  if (!(age >= 0 && age < windowMs)) found.window = { since: now, requests: 0 };
  found.window.requests += 1;
  if (found.window.requests <= requests) return undefined;
  return { status: 429, retryAfterSeconds: Math.ceil((found.window.since + windowMs - now) / 1000) };
}

function send(operation: OperationId, answer: FaultAnswer, req: Request, res: Response): void {
  const { status = 200, malformed = false } = answer;
  const retryAfter = answer.retryAfterSeconds ?? (status === 429 || status === 503 ? 1 : undefined);
  if (retryAfter !== undefined) res.set("Retry-After", String(retryAfter));
  const { headers, body } = faultBody(operation, status, res.locals.requestId);
  res.set(headers);
  const text = answer.body === undefined ? undefined : JSON.stringify(answer.body);
  sendJson(status, malformed ? '{"list":[{"id":"' : (text ?? body), req, res);
}

function checkFault(fault: Fault): void {
  refuseUnknown("a fault", fault, { ...ANSWER, sequence: true, rateLimit: true });
  const { sequence, rateLimit, ...single } = fault;
  const isSingle = Object.values(single).some((value) => value !== undefined);
  if (Number(sequence !== undefined) + Number(rateLimit !== undefined) + Number(isSingle) > 1)
    throw new RangeError("sequence and rateLimit stand alone");
  if (rateLimit) refuseUnknown("rateLimit", rateLimit, { requests: true, windowMs: true });
  for (const answer of sequence ?? []) refuseUnknown("a fault", answer, ANSWER);
  checkAs(FAULT, fault, "fault");
  for (const answer of sequence ?? [single]) refuseContradiction(answer);
}

/** Statuses whose answers have no body (RFC 9110). */
const WITHOUT_BODY = new Set([204, 205, 304]);

/** What would be left out without a word, as one part of an answer rules out another. */
function refuseContradiction({ status, body, disconnect, malformed, retryAfterSeconds }: FaultAnswer): void {
  const parts = { status, body, malformed: malformed || undefined, retryAfterSeconds };
  const given = Object.entries(parts).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  if (disconnect && given.length > 0)
    throw new RangeError(`disconnect is no answer, and stands without ${given.join(" and ")}`);
  if (malformed && body !== undefined)
    throw new RangeError("malformed is a body of its own, and stands without body");
  if (status !== undefined && WITHOUT_BODY.has(status) && (body !== undefined || malformed))
    throw new RangeError(`an answer with the status ${status} has no body`);
  if (status === undefined && !malformed && given.length > 0)
    throw new RangeError(`${given.join(" and ")} belongs to an answer, which needs a status`);
}

/** The bounds of the document, whoever sets a fault: past 2^31 - 1 ms a timer of Node does not wait at all. */
const FAULT: Schema = { $ref: "#/components/schemas/Fault" };
const DELAY: Schema = { $ref: "#/components/schemas/FaultAnswer/properties/delayMs" };

function checkAs(schema: Schema, value: unknown, name: string): void {
  const [wrong] = violationsOf(value, schema, name);
  if (wrong) throw new RangeError(`${wrong.field} ${wrong.description}`);
}
