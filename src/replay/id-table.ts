// Event ids in fixed pieces of memory.
import { newUuid, sha256Base64url } from "#hash";
import { URL_SAFE } from "../core/bytes.js";

/** 120 bits of an id's hash, as four whole numbers. They stand for the id. */
export type Mark = Uint32Array;

/** What is kept next to an id. */
export interface Kept {
  readonly token: number;
  readonly expiresAt: number;
}

/** The value of a character of base64url, by its code. */
const SIX_BITS = /* @__PURE__ */ Uint8Array.from({ length: 128 }, (_, code) =>
  Math.max(0, URL_SAFE.indexOf(String.fromCharCode(code))),
);

/** How many ids one piece of memory holds. */
const CHUNK = 4096;
/** Ids have their places in a ring of so many, one after the other. */
const RING = 2 ** 32 - CHUNK;
const SHARDS = 256;
const FEWEST_SLOTS = 8;

/**
 * Ids in the order in which they were added. An id takes some 45 bytes, where a `Map` of texts takes 190 and ends at
 * 16.7 million: its mark and what is kept next to it stand at a place, and a shard says at which one.
 */
export class IdTable {
  // With it in the hash, nobody can choose ids that crowd into the same slots.
  readonly #salt = newUuid();
  readonly #places = new Places();
  // A shard that grows moves few ids, so nobody has to wait for it.
  readonly #shards = Array.from({ length: SHARDS }, () => new Shard());
  #first = 0;
  #size = 0;

  /** How many ids are kept. */
  get size(): number {
    return this.#size;
  }

  /** The mark by which the other methods know an id. */
  markOf(id: string): Mark {
    const digest = sha256Base64url(this.#salt + id);
    const mark = new Uint32Array(4);
    // To decode it into bytes costs more than the hash.
    for (let at = 0; at < 20; at++)
      mark[at % 4] = ((mark[at % 4] ?? 0) << 6) | (SIX_BITS[digest.charCodeAt(at)] ?? 0);
    return mark;
  }

  /** What is kept next to an id. */
  find(mark: Mark): Kept | undefined {
    const place = this.#shardOf(mark).find(mark, this.#places);
    return place === undefined ? undefined : this.#places.kept(place);
  }

  /** Adds an id that is not there. */
  add(mark: Mark, kept: Kept): void {
    const place = (this.#first + this.#size) % RING;
    this.#places.write(place, mark, kept);
    this.#shardOf(mark).add(mark, place);
    this.#size++;
  }

  /** What is kept next to the id that was added first. */
  first(): Kept | undefined {
    return this.#size === 0 ? undefined : this.#places.kept(this.#first);
  }

  /** Takes out the id that was added first. */
  removeFirst(): void {
    if (this.#size === 0) return;
    const mark = this.#places.mark(this.#first);
    this.#shardOf(mark).remove(mark, this.#first);
    this.#first = (this.#first + 1) % RING;
    this.#size--;
    this.#places.freeBefore(this.#first);
  }

  #shardOf(mark: Mark): Shard {
    return this.#shards[(mark[0] ?? 0) % SHARDS] as Shard;
  }
}

/**
 * The places of the ids whose marks begin alike: an open hash table. A slot has a place and one more, or 0 where it is
 * free, and the word of the mark by which it is sought: so the ids themselves are read where they are found, and only
 * there.
 */
class Shard {
  #slots = new Uint32Array(FEWEST_SLOTS * 2);
  #used = 0;

  find(mark: Mark, places: Places): number | undefined {
    const slots = this.#slots;
    const word = wordOf(mark);
    for (let slot = homeOf(word, slots); slots[slot] !== 0; slot = after(slot, slots)) {
      const place = (slots[slot] ?? 0) - 1;
      if (slots[slot + 1] === word && places.isAt(place, mark)) return place;
    }
    return undefined;
  }

  add(mark: Mark, place: number): void {
    this.#used++;
    if (this.#used * 8 > this.#slots.length * 3) this.#resize(this.#slots.length * 2);
    fill(this.#slots, wordOf(mark), place + 1);
  }

  remove(mark: Mark, place: number): void {
    const slots = this.#slots;
    let free = homeOf(wordOf(mark), slots);
    while (slots[free] !== place + 1) free = after(free, slots);
    // What was put further because this slot was taken moves forward, else it would not be found.
    for (let slot = after(free, slots); slots[slot] !== 0; slot = after(slot, slots)) {
      const word = slots[slot + 1] ?? 0;
      if (distance(homeOf(word, slots), slot, slots) < distance(free, slot, slots)) continue;
      slots.copyWithin(free, slot, slot + 2);
      free = slot;
    }
    slots[free] = 0;
    this.#used--;
    if (this.#used * 16 < slots.length && slots.length > FEWEST_SLOTS * 2) this.#resize(slots.length / 2);
  }

  #resize(length: number): void {
    const slots = new Uint32Array(length);
    for (let slot = 0; slot < this.#slots.length; slot += 2) {
      if (this.#slots[slot] !== 0) fill(slots, this.#slots[slot + 1] ?? 0, this.#slots[slot] ?? 0);
    }
    this.#slots = slots;
  }
}

function wordOf(mark: Mark): number {
  return mark[1] ?? 0;
}

function homeOf(word: number, slots: Uint32Array): number {
  return (word * 2) % slots.length;
}

function after(slot: number, slots: Uint32Array): number {
  return (slot + 2) % slots.length;
}

function distance(from: number, to: number, slots: Uint32Array): number {
  return (to - from + slots.length) % slots.length;
}

function fill(slots: Uint32Array, word: number, entry: number): void {
  let slot = homeOf(word, slots);
  while (slots[slot] !== 0) slot = after(slot, slots);
  slots[slot] = entry;
  slots[slot + 1] = word;
}

interface Chunk {
  readonly marks: Uint32Array;
  readonly kept: Float64Array;
}

/** What stands at the places: memory in chunks, which exist where ids are. */
class Places {
  readonly #chunks = new Map<number, Chunk>();

  write(place: number, mark: Mark, { token, expiresAt }: Kept): void {
    const { marks, kept } = this.#chunks.get(numberOf(place)) ?? this.#newChunk(place);
    const at = place % CHUNK;
    marks.set(mark, at * 4);
    kept[at * 2] = token;
    kept[at * 2 + 1] = expiresAt;
  }

  kept(place: number): Kept {
    const { kept } = this.#chunkOf(place);
    const at = (place % CHUNK) * 2;
    return { token: kept[at] ?? 0, expiresAt: kept[at + 1] ?? 0 };
  }

  mark(place: number): Mark {
    const at = (place % CHUNK) * 4;
    return this.#chunkOf(place).marks.subarray(at, at + 4);
  }

  isAt(place: number, mark: Mark): boolean {
    return this.mark(place).every((word, index) => word === mark[index]);
  }

  /** Gives the chunk back that ends before this place. */
  freeBefore(place: number): void {
    if (place % CHUNK === 0) this.#chunks.delete(numberOf(place === 0 ? RING - 1 : place - 1));
  }

  #chunkOf(place: number): Chunk {
    return this.#chunks.get(numberOf(place)) as Chunk;
  }

  #newChunk(place: number): Chunk {
    const chunk = { marks: new Uint32Array(CHUNK * 4), kept: new Float64Array(CHUNK * 2) };
    this.#chunks.set(numberOf(place), chunk);
    return chunk;
  }
}

function numberOf(place: number): number {
  return Math.floor(place / CHUNK);
}
