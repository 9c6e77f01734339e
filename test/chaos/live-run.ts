import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pass } from "node:timers/promises";
import { hmacSigner } from "hookproof";
import { createOutbox, type Outbox, type OutboxListenerOptions } from "hookproof/outbox";
import { waitFor } from "hookproof/testing";
import { type ChaosProcess, here, startProcess, type ToldHindrance } from "./chaos-process.js";
import type { LiveEngine } from "./live-engines.js";
import type { Hindrance, Interruption } from "./outbox-judge.js";

/** The shortest lease that there is lasts so much longer than an attempt may take. */
const LEASE_MARGIN_MS = 5_000;
/** What a wait for something that is bound to come may take. */
export const LIMIT = { timeoutMs: 600_000, intervalMs: 20 };

type Limits = Pick<OutboxListenerOptions, "concurrency" | "rate">;

/** What the workers read of a tenant. */
export interface Tenant {
  readonly url: string;
  readonly secret: string;
}

/** Worker processes over one store, which have their listeners from a function over a file of tenants. */
export class LiveRun {
  /** Enqueues, and controls the workers; it delivers nothing. */
  readonly outbox: Outbox;
  readonly interruptions: Interruption[] = [];
  readonly hindrances: Hindrance[] = [];
  readonly #engine: LiveEngine;
  readonly #limits: Limits;
  readonly #attemptTimeoutMs: number;
  readonly leaseMs: number;
  readonly #workers: ChaosProcess[] = [];
  readonly #begun: ChaosProcess[] = [];
  readonly #killedAt = new Map<number, number>();
  readonly #folder = mkdtempSync(join(tmpdir(), "hookproof-chaos-tenants-"));
  readonly #file = join(this.#folder, "tenants.json");

  constructor(engine: LiveEngine, attemptTimeoutMs: number, limits: Limits) {
    this.#engine = engine;
    this.#limits = limits;
    this.#attemptTimeoutMs = attemptTimeoutMs;
    this.leaseMs = attemptTimeoutMs + LEASE_MARGIN_MS;
    const listeners = () => ({ url: "http://127.0.0.1/api/v1/webhooks/incoming/lst_1", signer: NOBODY });
    this.outbox = createOutbox({ store: engine.store, listeners });
  }

  /** Replaces the file at one moment. */
  write(tenants: Readonly<Record<string, Tenant>>): void {
    writeFileSync(`${this.#file}.new`, JSON.stringify(tenants));
    renameSync(`${this.#file}.new`, this.#file);
  }

  async begin(index: number): Promise<void> {
    // Until here a request in its name is of the one that was killed, and was still on its way.
    const from = this.#killedAt.get(index);
    if (from !== undefined)
      this.interruptions.push({ dispatcher: index, kind: "kill", from, to: performance.now() });
    this.#killedAt.delete(index);
    const { name: engine, place } = this.#engine;
    const times = { attemptTimeoutMs: this.#attemptTimeoutMs, leaseMs: this.leaseMs };
    const common = { engine, place, ...times, limits: this.#limits };
    const process = startProcess("live-process.mjs", { ...common, name: index, tenants: this.#file });
    this.#workers[index] = process;
    this.#begun.push(process);
    await process.isReady((line) => {
      const { starved, hindrance } = line as ToldHindrance;
      if (hindrance) this.hindrances.push({ dispatcher: index, kind: hindrance.kind, ...here(hindrance) });
      if (starved) this.interruptions.push({ dispatcher: index, kind: "starved", ...here(starved) });
    });
  }

  async beginAll(count: number): Promise<void> {
    await Promise.all(Array.from({ length: count }, (_, index) => this.begin(index)));
  }

  async kill(index: number): Promise<void> {
    this.#killedAt.set(index, performance.now());
    await this.#workers[index]?.end("SIGKILL");
  }

  /** Stops a worker until all its leases have run out. */
  async stopPastLease(index: number): Promise<void> {
    const worker = this.#workers[index];
    const from = performance.now();
    worker?.signal("SIGSTOP");
    for (let ms = 1; this.#engine.isHeldUp(); ms *= 2) {
      worker?.signal("SIGCONT");
      await pass(ms);
      worker?.signal("SIGSTOP");
    }
    await pass(this.leaseMs + 300);
    worker?.signal("SIGCONT");
    this.interruptions.push({ dispatcher: index, kind: "stop", from, to: performance.now() });
  }

  /** Resolves when no event waits or is in flight. */
  async delivered(): Promise<void> {
    await waitFor(
      async () => (await this.outbox.stats()).every(({ pending, inFlight }) => pending + inFlight === 0),
      LIMIT,
    );
  }

  async end(): Promise<void> {
    await Promise.all(this.#begun.map(({ end }) => end("SIGKILL")));
    rmSync(this.#folder, { recursive: true });
    await this.#engine.stop();
  }
}

const NOBODY = hmacSigner({ secret: "QSBrZXkgZm9yIEhvb2twcm9vZiB0ZXN0cyBvbmx5ISE" });
