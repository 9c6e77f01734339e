import { createHash } from "node:crypto";
import type { VirtualTime } from "./virtual-time.js";

type Word = string | number | undefined;

/** What happened, in order: who, what, and to what. */
export interface TraceLine {
  readonly at: number;
  readonly owner: string;
  readonly what: string;
  readonly words: readonly Word[];
}

export class Trace {
  readonly lines: TraceLine[] = [];
  readonly #time: VirtualTime;

  constructor(time: VirtualTime) {
    this.#time = time;
  }

  add(owner: string, what: string, ...words: Word[]): void {
    this.lines.push({ at: this.#time.now, owner, what, words });
  }

  digest(): string {
    return createHash("sha256").update(this.text()).digest("base64url");
  }

  text(): string {
    return this.lines.map(lineText).join("\n");
  }
}

function lineText({ at, owner, what, words }: TraceLine): string {
  const rest = words.filter((word) => word !== undefined).map((word) => shortened(String(word)));
  return [`${(at / 1000).toFixed(3).padStart(12)} s`, owner.padEnd(9), what, ...rest].join("  ");
}

/** Of an id its first eight characters. */
function shortened(word: string): string {
  return /^[0-9a-f]{8}-[0-9a-f-]{27}$/.test(word) ? word.slice(0, 8) : word;
}
