// Starts work for many items and gives the results in their order.
/** One item's work, and its outcome once there is one. */
interface Started<Result> {
  readonly settled: Promise<void>;
  outcome?: { readonly value: Result } | { readonly error: unknown };
}

/**
 * Starts work for each item, at most `concurrency` at a time, and yields the results in the order of the items,
 * each as soon as it can be. Items are drawn only as results are taken, so an endless source needs no more memory
 * than a short one. An abort, or a consumer that leaves, ends the drawing; what was started is waited for.
 */
export async function* inOrder<Item, Result>(
  items: Iterable<Item> | AsyncIterable<Item>,
  { concurrency, signal }: { concurrency: number; signal?: AbortSignal | undefined },
  work: (item: Item) => Promise<Result>,
): AsyncGenerator<Result, void, undefined> {
  const source = Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : items[Symbol.iterator]();
  const started: Started<Result>[] = [];
  let drawing: Promise<void> | undefined;
  let stopDrawing: (() => void) | undefined;
  let ended = false; // the source has no more
  let left = false; // nobody wants more
  let failure: { error: unknown } | undefined;

  /** Draws one item and starts its work; settles early when drawing is to stop. */
  function draw(): Promise<void> {
    return new Promise((resolve) => {
      stopDrawing = resolve;
      nextOf(source)
        .then(
          (next) => {
            if (next.done) ended = true;
            else if (!left) started.push(start(work(next.value)));
          },
          (error: unknown) => {
            ended = true;
            failure = { error };
          },
        )
        .then(() => {
          drawing = undefined;
          resolve();
        });
    });
  }

  const onAbort = () => {
    left = true;
    stopDrawing?.();
  };
  signal?.addEventListener("abort", onAbort, { once: true });
  if (signal?.aborted) onAbort();
  try {
    for (;;) {
      if (!ended && !left && started.length < concurrency) drawing ??= draw();
      const [head] = started;
      if (head?.outcome) {
        started.shift();
        yield resultOf(head);
      } else if (head || (drawing && !left)) {
        await Promise.race([head?.settled, drawing].filter((promise) => promise !== undefined));
      } else {
        break;
      }
    }
    // A source that fails ends the run, after the items that it gave before.
    if (failure) throw failure.error;
  } finally {
    signal?.removeEventListener("abort", onAbort);
    left = true;
    await Promise.all(started.map(({ settled }) => settled));
    if (!ended) await leave(source, drawing !== undefined);
  }
}

/** A plain iterator throws where an asynchronous one rejects; here both reject. */
async function nextOf<Item>(source: Iterator<Item> | AsyncIterator<Item>): Promise<IteratorResult<Item>> {
  return source.next();
}

function start<Result>(work: Promise<Result>): Started<Result> {
  const one: Started<Result> = {
    settled: work.then(
      (value) => {
        one.outcome = { value };
      },
      (error: unknown) => {
        one.outcome = { error };
      },
    ),
  };
  return one;
}

function resultOf<Result>({ outcome }: Started<Result>): Result {
  if (outcome && "value" in outcome) return outcome.value;
  throw outcome?.error;
}

/** Ends a source. One whose next item is still awaited is not waited for. */
async function leave(source: Iterator<unknown> | AsyncIterator<unknown>, owes: boolean): Promise<void> {
  const returned = Promise.resolve(source.return?.());
  if (owes) returned.catch(() => {});
  else await returned;
}
