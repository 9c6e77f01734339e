// Lets secrets be hashed in lanes, so that strangers wait behind strangers.

/** Work in lanes: one at a time in each, and none beyond the most that may wait. */
interface HashLanes {
  /** Runs work when the lane is free; undefined at once where too much of it waits. */
  run<Result>(
    lane: string,
    max: number,
    work: () => Promise<Result>,
  ): Promise<{ readonly result: Result } | undefined>;
}

/** Lanes, each of which is there while it has work. */
export function hashLanes(): HashLanes {
  const lanes = new Map<string, { waiting: number; last: Promise<unknown> }>();
  return {
    async run(name, max, work) {
      const lane = lanes.get(name) ?? { waiting: 0, last: Promise.resolve() };
      if (lane.waiting >= max) return undefined;
      lanes.set(name, lane);
      lane.waiting += 1;
      const mine = lane.last.then(work);
      lane.last = mine.catch(() => {}); // whoever asked for it gets the error
      try {
        return { result: await mine };
      } finally {
        lane.waiting -= 1;
        if (lane.waiting === 0) lanes.delete(name);
      }
    },
  };
}
