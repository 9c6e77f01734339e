import { sha256Base64url } from "#hash";
import { HookproofError } from "../errors.js";
import type { WebhookEvent } from "../protocol/event.js";

const REMEMBERED_IDS = 10_000;

/**
 * Refuses an id that this sender has seen lately with other bytes: the receiver would take the event for a replay
 * and drop it. Remembers the last 10,000 ids, up to twice as many.
 */
export function reuseGuard(): (event: WebhookEvent) => void {
  let recent = new Map<string, string>();
  let older = new Map<string, string>();
  return ({ id, body }) => {
    const digest = sha256Base64url(body);
    const before = recent.get(id) ?? older.get(id);
    if (before !== undefined && before !== digest) {
      throw new HookproofError(
        "EVENT_ID_REUSED",
        `Event id ${id} was used before with other bytes. A new event needs a new id.`,
      );
    }
    if (recent.size >= REMEMBERED_IDS) {
      older = recent;
      recent = new Map();
    }
    recent.set(id, digest);
  };
}
