/** A mistake people make, in words: the same for every request. */
export interface Mistake {
  /** A stable name, such as `secret-base64url-decoded`. */
  readonly id: string;
  /** The mistake in a few words. */
  readonly title: string;
  /** What it did to the request. */
  readonly message: string;
  /** What to change, with code. */
  readonly fix: string;
}

/** A mistake that was made in one request, with what that request adds to its message. */
export interface Finding {
  readonly mistake: Mistake;
  readonly detail?: string | undefined;
}

/** How far-fetched a mistake is: 1 for what people do every day, 3 for what is rarely seen. */
type Weight = 1 | 2 | 3;

/** A mistake that can be repeated, in one way or several, to see whether it explains a wrong value. */
export interface Trial<Repeat> extends Mistake {
  readonly ways: readonly (readonly [weight: Weight, repeat: Repeat])[];
}

/** One way of one mistake, or, with weight 0 and no mistake, the right way. */
export interface Option<Repeat> {
  readonly weight: Weight | 0;
  readonly repeat: Repeat;
  readonly mistake?: Mistake;
}

/** The right way and every wrong one of a table. */
export function optionsOf<Repeat>(
  right: Repeat,
  trials: readonly Trial<Repeat>[],
): readonly Option<Repeat>[] {
  const wrong = trials.flatMap((mistake) =>
    mistake.ways.map(([weight, repeat]) => ({ weight, repeat, mistake })),
  );
  return [{ weight: 0, repeat: right }, ...wrong];
}
