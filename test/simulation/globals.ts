// Replaces what the code reaches for beside its options: timers, time, randomness, ids. Outside of a simulated world
// they are the machine's. To be imported before anything of the library's.
import { createRequire, syncBuiltinESMExports } from "node:module";
import { activeTime, EPOCH, type Step, type VirtualTime } from "./virtual-time.js";

type Callback = (...given: unknown[]) => void;

/** What `setTimeout` gives in a simulated world. */
class Timer {
  step: Step | undefined;

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  hasRef(): boolean {
    return true;
  }
}

const real = {
  setTimeout: globalThis.setTimeout,
  setInterval: globalThis.setInterval,
  setImmediate: globalThis.setImmediate,
  now: Date.now,
  random: Math.random,
};

function timer(time: VirtualTime, ms: number, callback: () => void): Timer {
  const made = new Timer();
  made.step = time.after(ms, time.owner, callback);
  return made;
}

function interval(time: VirtualTime, ms: number, callback: () => void): Timer {
  const made = new Timer();
  const { owner } = time;
  const again = () => {
    made.step = time.after(ms, owner, again);
    callback();
  };
  made.step = time.after(ms, owner, again);
  return made;
}

Object.assign(globalThis, {
  setTimeout: (callback: Callback, ms = 0, ...given: unknown[]) => {
    const time = activeTime();
    if (!time) return real.setTimeout(callback, ms, ...given);
    return timer(time, Math.max(1, ms), () => callback(...given)); // as Node has it
  },
  setInterval: (callback: Callback, ms = 0, ...given: unknown[]) => {
    const time = activeTime();
    if (!time) return real.setInterval(callback, ms, ...given);
    return interval(time, Math.max(1, ms), () => callback(...given));
  },
  setImmediate: (callback: Callback, ...given: unknown[]) => {
    const time = activeTime();
    if (!time) return real.setImmediate(callback, ...given);
    return timer(time, 0, () => callback(...given));
  },
});

for (const name of ["clearTimeout", "clearInterval", "clearImmediate"] as const) {
  const clear = globalThis[name] as (handle: unknown) => void;
  Object.assign(globalThis, {
    [name]: (handle: unknown) => {
      if (!(handle instanceof Timer)) return clear(handle);
      if (handle.step) handle.step.isOff = true;
    },
  });
}

Date.now = () => {
  const time = activeTime();
  return time ? Math.floor(EPOCH + time.now) : real.now();
};
Math.random = () => activeTime()?.random.next() ?? real.random();
const realPerformance = performance.now.bind(performance);
Object.defineProperty(performance, "now", { value: () => activeTime()?.now ?? realPerformance() });

const nodeCrypto = createRequire(import.meta.url)("node:crypto") as { randomUUID: () => string };
const realUuid = nodeCrypto.randomUUID;
const randomUUID = () => activeTime()?.random.uuid() ?? realUuid();
nodeCrypto.randomUUID = randomUUID;
syncBuiltinESMExports();
Object.defineProperty(globalThis.crypto, "randomUUID", { value: randomUUID });
