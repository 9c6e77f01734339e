/**
 * A mistake that people make with signed requests. `mistakes` lists all of them; `diagnose` returns the ones that
 * explain a request.
 */
export interface Mistake {
  /** A stable name, such as `secret-base64url-decoded`. */
  readonly id: string;
  /** The mistake in a few words, such as `Signature in hex`. */
  readonly title: string;
  /** What is wrong, in a sentence or two. A diagnosis adds what it saw in the request, such as `It is 361 s old.` */
  readonly message: string;
  /** What to change, with code. */
  readonly fix: string;
}

/** The mistake with a sentence about this request at the end of its message. */
export function withDetail<Kind extends Mistake>(mistake: Kind, detail: string): Kind {
  return { ...mistake, message: `${mistake.message} ${detail}` };
}

/** The mistake without the functions that repeat it. */
export function inWords({ id, title, message, fix }: Mistake): Mistake {
  return { id, title, message, fix };
}

/** How likely a mistake is: 1 for what people do every day, 3 for what is rarely seen. */
type Weight = 1 | 2 | 3;

/**
 * A mistake that the search can repeat. It repeats the mistake on the received request and compares what comes out
 * with the signature. Each way is one variant of the mistake, such as the order of the two parts.
 */
export interface RepeatableMistake<Repeat> extends Mistake {
  readonly ways: readonly (readonly [weight: Weight, repeat: Repeat])[];
}

/** One variant of a mistake; the option with weight 0 is the right way and has no mistake. */
export interface Option<Repeat> {
  readonly weight: Weight | 0;
  readonly repeat: Repeat;
  readonly mistake?: Mistake;
}

/** The right way, followed by every variant of every mistake of a table. */
export function optionsOf<Repeat>(
  right: Repeat,
  table: readonly RepeatableMistake<Repeat>[],
): readonly Option<Repeat>[] {
  const wrong = table.flatMap((mistake) =>
    mistake.ways.map(([weight, repeat]) => ({ weight, repeat, mistake })),
  );
  return [{ weight: 0, repeat: right }, ...wrong];
}
