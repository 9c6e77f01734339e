// What a parser under the fuzzer is, as data, and what it says when it has broken a promise.

/** A reader of strangers' bytes, with what it is fed and which refusals it documents. */
export interface Parser {
  readonly name: string;
  /** Valid inputs, which are changed to make others. */
  readonly examples: readonly (string | Uint8Array)[];
  /** Pieces of its grammar. */
  readonly words?: readonly string[];
  /** The most bytes that its caller hands it; 65,536 by default. */
  readonly most?: number;
  /** A text that stands in the examples and must come back in no refusal and no shown text, nor a part of it. */
  readonly hidden?: string;
  /** What its texts go through before somebody sees them: of the command line `createOutput`, of an API JSON. */
  readonly shownBy?: (text: string) => string;
  /** How many inputs a quick run has, where one costs much more than a millisecond. */
  readonly quick?: number;
  /**
   * Reads one input. It gives what is shown to somebody, throws what it documents, and throws `Broken` where what it has
   * read is not what it promises.
   */
  read(input: Buffer): Promise<readonly string[] | undefined> | readonly string[] | undefined;
  /** Whether an error is one that it documents. */
  refuses(error: unknown): boolean;
}

/** A promise that a parser did not keep. */
export class Broken extends Error {}

/** Ends the reading where a promise is not kept. */
export function holds(isKept: boolean, promise: string): void {
  if (!isKept) throw new Broken(promise);
}

/** What shows what it was given already has nothing to hide; a parser that refuses nothing has this. */
export const never = (): boolean => false;
