/**
 * Starts work for each item, at most `concurrency` at a time, and yields the results in the order of the items.
 * Items are drawn only as results are taken, so an endless source needs no more memory than a short one.
 */
export async function* inOrder<Item, Result>(
  items: Iterable<Item> | AsyncIterable<Item>,
  concurrency: number,
  work: (item: Item) => Promise<Result>,
): AsyncGenerator<Result, void, undefined> {
  const started: Promise<Result>[] = [];
  const source = Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : items[Symbol.iterator]();
  let finished = false;
  try {
    for (;;) {
      let failure: { error: unknown } | undefined;
      while (!finished && started.length < concurrency) {
        try {
          const next = await source.next();
          finished = next.done ?? false;
          if (!next.done) started.push(work(next.value));
        } catch (error) {
          failure = { error };
          finished = true;
        }
      }
      const result = started.shift();
      if (result) yield await result;
      // A source that fails ends the run after what it had given is through.
      if (failure) {
        while (started.length > 0) yield (await started.shift()) as Result;
        throw failure.error;
      }
      if (!result) return;
    }
  } finally {
    if (!finished) await source.return?.();
  }
}
