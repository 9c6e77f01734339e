/** Hands over what came in since the last frame, at once; in a tab out of sight, where no frames are drawn, now and then. */
export function createFrameBatch<Item>(handle: (items: readonly Item[]) => void): (item: Item) => void {
  let waiting: Item[] = [];
  let frame = 0;
  let timer: ReturnType<typeof setTimeout>;

  function flush(): void {
    cancelAnimationFrame(frame);
    clearTimeout(timer);
    const items = waiting;
    waiting = [];
    handle(items);
  }

  return (item) => {
    waiting.push(item);
    if (waiting.length > 1) return;
    frame = requestAnimationFrame(flush);
    timer = setTimeout(flush, 250);
  };
}
