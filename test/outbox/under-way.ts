/** Sees what the workers of a bench are doing, so that its clock moves only while they do nothing. */
import type { Lease, OutboxStore } from "hookproof/outbox/store";
import type { receiverServer } from "../kit/receiver-server.js";

type Intercept = NonNullable<NonNullable<Parameters<typeof receiverServer>[0]>["intercept"]>;

/** The calls that deliveries wait for; upkeep goes on beside them for as long as it likes. */
const CALLS = new Set<string | symbol>(["claim", "markDelivered", "reschedule", "fail", "release"]);

/** How often in a row nothing may be seen: what ends one thing begins the next a turn of the timers later. */
const QUIET_TURNS = 3;

export function underWay() {
  /** Events from their claim until the store is told what became of them. */
  const claimed = new Set<Lease>();
  /** Requests that have arrived and that the test does not answer. */
  const unanswered = new Set<() => boolean>();
  let calls = 0;

  /** The store, with a look at what each call hands out and takes back. */
  const watched = (store: OutboxStore<never>): OutboxStore<never> =>
    new Proxy(store, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== "function") return value;
        if (!CALLS.has(name)) return value.bind(target);
        return async (...given: unknown[]) => {
          if (name !== "claim") for (const lease of leasesIn(given[0])) claimed.delete(lease);
          calls += 1;
          try {
            const result: unknown = await value.apply(target, given);
            if (name === "claim") for (const lease of leasesIn(result)) claimed.add(lease);
            return result;
          } finally {
            calls -= 1;
          }
        };
      },
    });

  /** Answers in a receiver's place; a request that it leaves without an answer is not waited for. */
  function noting(intercept: Intercept): Intercept {
    return async (request, response, receive) => {
      let receiving = 0;
      const isHeld = () =>
        request.complete && receiving === 0 && !response.writableEnded && !response.destroyed;
      unanswered.add(isHeld);
      response.on("close", () => unanswered.delete(isHeld));
      return intercept(request, response, async (...given) => {
        receiving += 1;
        try {
          await receive(...given);
        } finally {
          receiving -= 1;
        }
      });
    };
  }

  /** Resolves as soon as there is nothing that could go on without time passing. */
  async function quiet(): Promise<void> {
    const started = performance.now();
    for (let turns = 0; turns < QUIET_TURNS; ) {
      await new Promise((resolve) => setTimeout(resolve));
      const held = [...unanswered].filter((isHeld) => isHeld()).length;
      turns = calls === 0 && claimed.size <= held ? turns + 1 : 0;
      if (performance.now() - started > LONGEST_MS)
        throw new Error(`${claimed.size} attempts, ${held} of them held, and ${calls} calls are under way`);
    }
  }

  return { watched, noting, quiet };
}

/** How long an attempt may take that is bound to end; a mutant is not waited for. */
const LONGEST_MS = process.env.MUTATION_ROOM ? 3_000 : 60_000;

/** The leases that a call of the store is given or gives: one, or many, or something with one. */
function leasesIn(value: unknown): Lease[] {
  return [value]
    .flat()
    .flatMap((one) => (one as { lease?: Lease } | undefined)?.lease ?? (one as Lease) ?? []);
}
