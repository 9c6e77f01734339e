import { sha256Base64url } from "#hash";
import { HookproofError } from "../errors.js";
import type { WebhookEvent } from "../protocol/event.js";

const REMEMBERED_IDS = 10_000;
const REMEMBERED_BODIES = 50;

/** Which ids a sender has seen lately, and with which bytes. */
export interface ReuseGuard {
  /** Remembers an event whose id is new. It costs no hash, as next to none of these ids comes again. */
  remember(event: WebhookEvent): void;
  /**
   * Remembers an event whose id may come again, because a caller chose it or saw it fail.
   *
   * @throws {HookproofError} EVENT_ID_REUSED if it was seen with other bytes: the receiver would take the event for
   * a replay and drop it
   */
  check(event: WebhookEvent): void;
}

/** A guard that remembers the last 50 new events, and the last 10,000 to 20,000 ids that it has checked. */
export function reuseGuard(): ReuseGuard {
  const digests = lately<string>(REMEMBERED_IDS);
  const fresh: WebhookEvent[] = [];
  let next = 0;
  return {
    remember(event) {
      fresh[next] = event;
      next = (next + 1) % REMEMBERED_BODIES;
    },
    check({ id, body }) {
      const digest = sha256Base64url(body);
      const sent = fresh.find((event) => event.id === id);
      const before = digests.get(id) ?? (sent && sha256Base64url(sent.body));
      if (before !== undefined && before !== digest) {
        throw new HookproofError(
          "EVENT_ID_REUSED",
          `Event id ${id} was used before with other bytes. A new event needs a new id.`,
        );
      }
      digests.set(id, digest);
    },
  };
}

/** A map of the last `count` entries, up to twice as many. */
function lately<Value>(count: number) {
  let recent = new Map<string, Value>();
  let older = new Map<string, Value>();
  return {
    get: (id: string): Value | undefined => recent.get(id) ?? older.get(id),
    set(id: string, value: Value): void {
      if (recent.size >= count) {
        older = recent;
        recent = new Map();
      }
      recent.set(id, value);
    },
  };
}
