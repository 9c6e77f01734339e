// Lists that a macro adds one entry after another to.
import { celList } from "@bufbuild/cel";

const { constructor: ArrayList } = celList([]);

/**
 * The first entries of an array, which later lists share and add to. A macro adds one entry after another to a list;
 * the library's own sum of lists keeps both, so that reading the result takes a step for each sum, for each entry.
 */
class Beginning extends ArrayList {
  #array;
  #size;

  constructor(array) {
    super(array);
    this.#array = array;
    this.#size = array.length;
  }

  get size() {
    return this.#size;
  }

  *values() {
    for (let index = 0; index < this.#size; index++) yield this.get(index);
  }

  /** The array, if no other list has added to it. */
  get own() {
    return this.#array.length === this.#size ? this.#array : undefined;
  }
}

/** All entries of one list, and then of another. */
export function joined(one, other) {
  const entries = (one instanceof Beginning ? one.own : undefined) ?? Array.from(one);
  for (const entry of other) entries.push(entry);
  return new Beginning(entries);
}
