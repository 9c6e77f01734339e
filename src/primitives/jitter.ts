import { dropped } from "./harmless.js";

/** Numbers from 0 up to 1, whatever the caller's function does: a wait is not worth an event. */
export function steadyRandom(random: () => number): () => number {
  return () => {
    try {
      const number: unknown = random();
      if (typeof number === "number" && number >= 0 && number < 1) return number;
      dropped(number);
    } catch {
      // As below.
    }
    return Math.random();
  };
}
