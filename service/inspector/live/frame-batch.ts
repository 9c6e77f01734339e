// Hands over what came in once for each frame.
/** While things pour in, they are handed over no more often than this, so that the page has frames for its reader. */
const AGAIN_MS = 200;
/** How long a tab out of sight, where no frames are drawn, puts it off. */
const HIDDEN_MS = 250;

/** Hands over what came in: the first at the next frame, and what follows it closely together. */
export function createFrameBatch<Item>(handle: (items: readonly Item[]) => void): (item: Item) => void {
  let waiting: Item[] = [];
  let dueAt = 0;
  let frame = 0;
  let timer: ReturnType<typeof setTimeout>;

  function draw(): void {
    frame = requestAnimationFrame(flush);
    timer = setTimeout(flush, HIDDEN_MS);
  }

  function flush(): void {
    cancelAnimationFrame(frame);
    clearTimeout(timer);
    dueAt = performance.now() + AGAIN_MS;
    const items = waiting;
    waiting = [];
    handle(items);
  }

  return (item) => {
    waiting.push(item);
    if (waiting.length > 1) return;
    const wait = dueAt - performance.now();
    if (wait > 0) timer = setTimeout(draw, wait);
    else draw();
  };
}
