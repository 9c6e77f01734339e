import type { Craft, ProbeRequest } from "./craft.js";
import type { Probe } from "./probe.js";

/** A request that is ready to be sent, or why it cannot be made for this target. */
export type Built = ProbeRequest | { readonly skip: string };

type Build<Kit> = (craft: Kit) => Built | Promise<Built>;

/** A probe with the function that makes its raw request; `craft` has a fresh event id for every run. */
export interface Recipe<Kit extends Craft = Craft> extends Omit<Probe, "methods"> {
  readonly build: Build<Kit>;
  /** A request that is sent first, and the status without which the probe cannot be judged. */
  readonly before?: { readonly build: Build<Kit>; readonly status: number };
  /** How many copies are sent at once; exactly one may be accepted. */
  readonly copies?: number;
  /** The answer depends on the exact second, so it is asked again when a second passes meanwhile. */
  readonly boundary?: boolean;
}

type Given<Kit extends Craft> = Omit<Recipe<Kit>, "expected" | "runsAutomation" | "leftOpen"> &
  Partial<Pick<Recipe<Kit>, "runsAutomation" | "leftOpen">>;

/** A probe that a correct listener accepts, running its automation. */
export function accepts<Kit extends Craft = Craft>(recipe: Given<Kit>): Recipe<Kit> {
  return { expected: [200], runsAutomation: true, leftOpen: "nothing", ...recipe };
}

/** A probe that a correct listener refuses with a status. */
export function refuses<Kit extends Craft = Craft>(status: number, recipe: Given<Kit>): Recipe<Kit> {
  return { expected: [status], runsAutomation: false, leftOpen: "nothing", ...recipe };
}
