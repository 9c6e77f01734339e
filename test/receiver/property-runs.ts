import type { Parameters as FastCheckParameters } from "fast-check";
import { vi } from "vitest";

const LONG = Boolean(process.env.HOOKPROOF_LONG);
if (LONG) vi.setConfig({ testTimeout: 60 * 60_000 });

/** How often a property is tried: 300 times, or 100,000 times where HOOKPROOF_LONG is set. */
export function runs(): FastCheckParameters<unknown> {
  return { numRuns: LONG ? 100_000 : 300 };
}
