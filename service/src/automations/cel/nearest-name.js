// Finds the name that somebody may have meant.

/** Longer names are not compared: the work grows with the square of the length. */
const MAX_LENGTH = 120;

/**
 * The nearest of some names: the same one in other letters or another namespace, or one that differs in few letters.
 *
 * @param names a bounded list
 */
export function nearestName(given, names) {
  if (given.length > MAX_LENGTH) return undefined;
  const [wanted, last] = [plain(given), plain(lastPart(given))];
  let nearest;
  let min = Math.min(3, Math.ceil(given.length / 3)) + 1;
  for (const name of names) {
    if (plain(name) === wanted) return name;
    const isMoved = plain(lastPart(name)) === last && name.includes(".") === given.includes(".");
    const distance = isMoved ? 0.5 : distanceOf(plain(name), wanted, min);
    if (distance < min) [nearest, min] = [name, distance];
  }
  return nearest;
}

const lastPart = (name) => name.slice(name.lastIndexOf(".") + 1);
const plain = (name) => name.replaceAll("_", "").toLowerCase();

/** How many letters are added, left out or changed; `most` where there are more. */
function distanceOf(one, other, max) {
  if (Math.abs(one.length - other.length) >= max) return max;
  let before = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let row = 1; row <= one.length; row++) {
    const next = [row];
    for (let column = 1; column <= other.length; column++) {
      const changed = before[column - 1] + (one[row - 1] === other[column - 1] ? 0 : 1);
      next.push(Math.min(changed, before[column] + 1, next[column - 1] + 1));
    }
    before = next;
  }
  return Math.min(before.at(-1), max);
}
