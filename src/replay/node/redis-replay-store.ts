// A replay store in Redis.
import { randomUUID } from "node:crypto";
import { checkOptions, checkWholeNumber, type OptionNames } from "../../core/options.js";
import { EVENT_ID_RETENTION_MS } from "../../core/protocol.js";
import { RESERVATION_MS, type ReplayStore, reservationLost, withinMs } from "../replay-store.js";

/** The method of a client that the store uses: `call` of `ioredis`, or `sendCommand` of `redis` (node-redis). */
export type RedisClient =
  | { call(command: string, ...args: string[]): Promise<unknown> }
  | { sendCommand(args: string[]): Promise<unknown> };

/** Options of `redisReplayStore`. */
export interface RedisReplayStoreOptions {
  /** A connected client of `ioredis` or `redis`; closing it is the caller's. */
  client: RedisClient;
  /** What every key starts with; `hookproof:event:` by default. */
  keyPrefix?: string | undefined;
  /** How long a reservation holds if it is neither committed nor released; 60,000 ms by default. */
  reservationMs?: number | undefined;
  /** A call that takes longer rejects; 2,000 ms by default. */
  timeoutMs?: number | undefined;
}

const NAMES: OptionNames<RedisReplayStoreOptions> = {
  client: "object",
  keyPrefix: "string",
  reservationMs: "number",
  timeoutMs: "number",
};

// Redis runs each script as one step: nobody else can take the key between the look at its holder and the change.
const COMMIT = `local held = redis.call("GET", KEYS[1])
if held and held ~= ARGV[1] and held ~= ARGV[2] then return 0 end
redis.call("SET", KEYS[1], ARGV[2], "PX", ARGV[3])
return 1`;
const RELEASE = `if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end
return 0`;

/**
 * A replay store in Redis 6 or later, for any number of machines. Each id is a key, which Redis removes after 7 days
 * (specification 8). Redis keeps ids as safely as its persistence is set: switch `appendonly` on, and set
 * `maxmemory-policy noeviction`, as an event whose id was evicted can run again. A failover to a replica can lose the
 * last ids as well. Work and id cannot be in one transaction; use PostgreSQL or SQLite where they must.
 *
 * Its methods reject with a `HookproofError` REPLAY_STORE_UNAVAILABLE when Redis fails or is late.
 *
 * @example
 * ```ts
 * import { generateSecret } from "hookproof"; // stands for your listener's own secret
 * import { redisReplayStore } from "hookproof/replay";
 * import { createReceiver } from "hookproof/receiver";
 * import { Redis } from "ioredis";
 *
 * const receiver = createReceiver({
 *   listener: { id: "lst_1", baseUrl: "https://tenant.example.com", auth: { method: "hmac", secret: generateSecret() } },
 *   replayStore: redisReplayStore({ client: new Redis() }),
 * });
 * ```
 */
export function redisReplayStore(options: RedisReplayStoreOptions): ReplayStore {
  checkOptions("redisReplayStore", options, NAMES);
  const {
    client,
    keyPrefix = "hookproof:event:",
    reservationMs = RESERVATION_MS,
    timeoutMs = 2_000,
  } = options;
  const send = commandOf(client);
  checkWholeNumber("reservationMs", reservationMs);
  checkWholeNumber("timeoutMs", timeoutMs);
  const ask = (...args: string[]) => withinMs(timeoutMs, () => send(args));
  const keyOf = (listenerId: string, eventId: string) => `${keyPrefix}${listenerId}:${eventId}`;

  return {
    async reserve(listenerId, eventId) {
      const key = keyOf(listenerId, eventId);
      const token = randomUUID();
      // A reservation that nobody was told of is released, or the id would be in flight though nobody works on it.
      const taken = await withinMs(
        timeoutMs,
        () => send(["SET", key, reservedBy(token), "PX", String(reservationMs), "NX"]),
        () => send(["EVAL", RELEASE, "1", key, reservedBy(token)]),
      );
      if (taken !== null) return { state: "reserved", reservation: { listenerId, eventId, token } };
      const held = await ask("GET", key);
      return { state: String(held).startsWith(PROCESSED) ? "processed" : "in-flight" };
    },
    async commit({ listenerId, eventId, token }) {
      const values = [reservedBy(token), processedBy(token), String(EVENT_ID_RETENTION_MS)];
      const done = await ask("EVAL", COMMIT, "1", keyOf(listenerId, eventId), ...values);
      if (Number(done) !== 1) throw reservationLost();
    },
    async release({ listenerId, eventId, token }) {
      await ask("EVAL", RELEASE, "1", keyOf(listenerId, eventId), reservedBy(token));
    },
  };
}

const PROCESSED = "processed ";

function reservedBy(token: string): string {
  return `reserved ${token}`;
}

function processedBy(token: string): string {
  return `${PROCESSED}${token}`;
}

/** ioredis has a `sendCommand` too, with other arguments, so `call` is looked for first. */
function commandOf(client: RedisClient): (args: string[]) => Promise<unknown> {
  if (client && "call" in client && typeof client.call === "function")
    return ([command = "", ...args]) => client.call(command, ...args);
  if (client && "sendCommand" in client && typeof client.sendCommand === "function")
    return (args) => client.sendCommand(args);
  throw new TypeError("client must be a client of ioredis, with call(), or of redis, with sendCommand()");
}
