// What kept a process of a chaos run from work, as it says itself: a test of times says nothing of such a while.
const STARVED_MS = 400;
const HINDERED_MS = 50;

/** Tells when the machine let this process do nothing for a while. */
export function tellStandstills(tell) {
  let lastBreath = Date.now();
  setInterval(() => {
    const now = Date.now();
    if (now - lastBreath > STARVED_MS) tell({ starved: { from: lastBreath, to: now } });
    if (now - lastBreath > HINDERED_MS)
      tell({ hindrance: { kind: "standstill", from: lastBreath, to: now } });
    lastBreath = now;
  }, 20).unref();
}

/** The same store, which tells when calls of it took long, and since when they fail. */
export function watched(store, tell) {
  let failingSince;
  const ended = (from, kind) => {
    failingSince = kind === "failure" ? (failingSince ?? from) : undefined;
    const hindrance = { kind, from: failingSince ?? from, to: Date.now() };
    if (hindrance.to - hindrance.from > HINDERED_MS) tell({ hindrance });
  };
  const methods = Object.entries(store).map(([name, method]) => {
    const watching = (...given) => {
      const from = Date.now();
      const result = method.apply(store, given);
      if (result instanceof Promise)
        result.then(
          () => ended(from, "slow call"),
          () => ended(from, "failure"),
        );
      return result;
    };
    return [name, watching];
  });
  return Object.fromEntries(methods);
}
