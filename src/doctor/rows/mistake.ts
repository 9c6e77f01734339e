// What a row of a table of mistakes is, for every scheme and for both sides.

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
  /** What to change, with code: in the sender's language, where its User-Agent shows it and the mistake is one of code. */
  readonly fix: string;
  /** The same in several languages, the likeliest first; absent where the fix is no code, and in the catalogue. */
  readonly fixes?: readonly { readonly language: string; readonly fix: string }[];
}

/** What a listener with one bug has in common with others: where in its code the bug is. */
export type Family = "key" | "secret" | "input" | "form" | "body" | "time" | "clock" | "headers" | "token";

/** The words of a mistake, seen from the listener that makes it. */
export interface ListenerWords {
  readonly family: Family;
  /** What the listener accepts because of it, such as `signatures made with the decoded secret`. */
  readonly accepts: string;
  /** The bug in its code, such as `it decodes the secret`. */
  readonly bug: string;
}

/** A row of a table: a mistake, with the words for a listener that makes it, where one can. */
export interface MistakeRow extends Mistake {
  readonly listener?: ListenerWords;
}

/** A row that says by itself whether the mistake was made (`mistakesFound`). */
export interface FoundMistake<Facts> extends MistakeRow {
  /** Whether it was made; or a sentence with what was seen, which then stands for `message`. */
  find(facts: Facts): boolean | string | undefined;
}

/** How likely a mistake is: 1 for what people do every day, 3 for what is rarely seen, 4 for its variants. */
type Weight = 1 | 2 | 3 | 4;

/**
 * A row that is recognised by making the mistake on the received request: if what comes out is what was received, it was
 * made (`choices`). Each way is one variant of the mistake, such as the order of two parts.
 */
export interface RepeatableMistake<Repeat> extends MistakeRow {
  readonly ways: readonly (readonly [weight: Weight, repeat: Repeat])[];
}

/** One variant of a mistake; the option with weight 0 is the right way and has no mistake. */
export interface Option<Repeat> {
  readonly weight: Weight | 0;
  readonly repeat: Repeat;
  readonly mistake?: MistakeRow;
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

/** The mistake with a sentence about this request at the end of its message. */
export function withDetail<Kind extends Mistake>(mistake: Kind, detail: string): Kind {
  return { ...mistake, message: `${mistake.message} ${detail}` };
}

/** The mistake alone: without the functions that recognise it and the words for a listener. */
export function withoutFunctions({ id, title, message, fix }: Mistake): Mistake {
  return { id, title, message, fix };
}

/** The mistakes of a catalogue: each id once. */
export function catalogueOf(...tables: readonly (readonly Mistake[])[]): readonly Mistake[] {
  const byId = new Map<string, Mistake>();
  for (const mistake of tables.flat())
    if (!byId.has(mistake.id)) byId.set(mistake.id, withoutFunctions(mistake));
  return [...byId.values()];
}
