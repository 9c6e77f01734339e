/** Something that comes up at a time; `order` decides between equal times. */
export interface Due {
  readonly at: number;
  readonly order: number;
}

/** A queue that gives whatever is due first. */
export interface DueHeap<Item extends Due> {
  push(item: Item): void;
  peek(): Item | undefined;
  pop(): Item | undefined;
}

/** A binary heap: both ends cost the logarithm of what is in it. */
export function dueHeap<Item extends Due>(): DueHeap<Item> {
  const items: Item[] = [];
  const isBefore = (a: Item, b: Item) => a.at < b.at || (a.at === b.at && a.order < b.order);

  function rise(item: Item): void {
    let index = items.push(item) - 1;
    while (index > 0) {
      const above = (index - 1) >> 1;
      const parent = items[above] as Item;
      if (!isBefore(item, parent)) break;
      items[index] = parent;
      index = above;
    }
    items[index] = item;
  }

  function sink(item: Item): void {
    let index = 0;
    for (;;) {
      let below = index * 2 + 1;
      if (below >= items.length) break;
      if (below + 1 < items.length && isBefore(items[below + 1] as Item, items[below] as Item)) below += 1;
      const child = items[below] as Item;
      if (!isBefore(child, item)) break;
      items[index] = child;
      index = below;
    }
    items[index] = item;
  }

  return {
    push: rise,
    peek: () => items[0],
    pop() {
      const [first] = items;
      const last = items.pop();
      if (items.length > 0 && last) sink(last);
      return first;
    },
  };
}
