// Remembers which bytes a sender's last event ids were sent with.
import { sha256Base64url } from "#hash";
import { HookproofError } from "../core/errors.js";
import type { WebhookEvent } from "../core/event.js";

/** How many ids are remembered at least, of those that were new and of those that a caller chose; twice as many at most. */
const REMEMBERED_IDS = 10_000;

const ID_LENGTH = 36;
const ENTRY_LENGTH = ID_LENGTH + 43;

/** How many new ids there is place for at first; a sender that sends more gets more. */
const FIRST_PLACES = 64;

/** The last event ids of a sender, with a hash of the bytes that each was sent with. */
export class SentIds {
  // In two maps, as deleting the oldest entry of one again and again takes longer than all else that a sender does: its
  // first entry is behind those that were deleted.
  #chosen = new Map<string, string>();
  #chosenBefore: ReadonlyMap<string, string> = new Map();
  /**
   * New ids with their hashes, in ASCII: the oldest is overwritten. As texts in a map they would be a tenth of what a send
   * costs, for the rare caller who sends one of them again.
   */
  #fresh = new Uint8Array(FIRST_PLACES * ENTRY_LENGTH);
  #freshCount = 0;

  /** Notes an event whose id was made for it, so that nothing else can have been sent with it. */
  addFresh({ id, body }: WebhookEvent): void {
    const start = (this.#freshCount % REMEMBERED_IDS) * ENTRY_LENGTH;
    if (start >= this.#fresh.length) this.#growTo(Math.min(REMEMBERED_IDS, this.#freshCount * 2));
    this.#freshCount += 1;
    write(this.#fresh, start, id);
    write(this.#fresh, start + ID_LENGTH, sha256Base64url(body));
  }

  /**
   * Notes an event whose id was chosen.
   *
   * @throws {HookproofError} EVENT_ID_REUSED for an id that was sent with other bytes: the receiver would take the event for
   * a copy and drop it
   */
  addChosen({ id, body }: WebhookEvent): void {
    const digest = sha256Base64url(body);
    const before = this.#chosen.get(id) ?? this.#chosenBefore.get(id) ?? this.#digestOfFresh(id) ?? digest;
    if (before !== digest) {
      throw new HookproofError(
        "EVENT_ID_REUSED",
        `Event id ${id} was used before with other bytes. A new event needs a new id.`,
      );
    }
    if (this.#chosen.size === REMEMBERED_IDS) {
      this.#chosenBefore = this.#chosen;
      this.#chosen = new Map();
    }
    this.#chosen.set(id, digest);
  }

  #growTo(places: number): void {
    const grown = new Uint8Array(places * ENTRY_LENGTH);
    grown.set(this.#fresh);
    this.#fresh = grown;
  }

  #digestOfFresh(id: string): string | undefined {
    // An id of a caller's own form may be as long as the beginning of one.
    if (id.length !== ID_LENGTH) return undefined;
    const count = Math.min(this.#freshCount, REMEMBERED_IDS);
    for (let start = 0; start < count * ENTRY_LENGTH; start += ENTRY_LENGTH)
      if (isAt(this.#fresh, start, id))
        return String.fromCharCode(...this.#fresh.subarray(start + ID_LENGTH, start + ENTRY_LENGTH));
    return undefined;
  }
}

function write(bytes: Uint8Array, start: number, ascii: string): void {
  for (let at = 0; at < ascii.length; at++) bytes[start + at] = ascii.charCodeAt(at);
}

function isAt(bytes: Uint8Array, start: number, ascii: string): boolean {
  for (let at = 0; at < ascii.length; at++) if (bytes[start + at] !== ascii.charCodeAt(at)) return false;
  return true;
}
