import { sha256Base64url } from "#hash";
import { HookproofError } from "../errors.js";
import type { WebhookEvent } from "../protocol/event.js";

const REMEMBERED_IDS = 10_000;
const REMEMBERED_BODIES = 25;

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

/** A guard that remembers the last 10,000 ids it has checked and the last 25 new ones, up to twice as many each. */
export function reuseGuard(): ReuseGuard {
  const digests = lately<string>(REMEMBERED_IDS);
  const bodies = lately<Uint8Array>(REMEMBERED_BODIES);
  return {
    remember({ id, body }) {
      bodies.set(id, body);
    },
    check({ id, body }) {
      const digest = sha256Base64url(body);
      const sent = bodies.get(id);
      const before = digests.get(id) ?? (sent && sha256Base64url(sent));
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
