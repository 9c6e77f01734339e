/** Numbers drawn from a seed. Each name gives a stream of its own, so that what one part draws moves no other part. */
export class Random {
  #state: number;
  readonly #seed: number;

  constructor(seed: number, name = "") {
    this.#seed = seed;
    this.#state = (seed ^ 0x5bd1e995) | 0;
    for (const character of name) this.#state = (Math.imul(this.#state, 31) + character.charCodeAt(0)) | 0;
    for (let warm = 0; warm < 3; warm++) this.next();
  }

  stream(name: string): Random {
    return new Random(this.#seed, name);
  }

  /** From 0 up to 1 (splitmix32). */
  next(): number {
    this.#state = (this.#state + 0x9e3779b9) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
  }

  /** A whole number from 0 up to `limit`. */
  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  between(low: number, high: number): number {
    return low + this.next() * (high - low);
  }

  chance(share: number): boolean {
    return this.next() < share;
  }

  pick<Item>(items: readonly [Item, ...Item[]]): Item {
    return items[this.below(items.length)] ?? items[0];
  }

  /** A UUID of version 4. */
  uuid(): string {
    const hex = Array.from({ length: 32 }, () => this.below(16).toString(16));
    hex[12] = "4";
    hex[16] = "89ab"[this.below(4)] ?? "8";
    const text = hex.join("");
    return `${text.slice(0, 8)}-${text.slice(8, 12)}-${text.slice(12, 16)}-${text.slice(16, 20)}-${text.slice(20)}`;
  }
}
