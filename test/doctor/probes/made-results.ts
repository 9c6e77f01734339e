// Results of probes that no listener gave: what is given of them, and nothing else that says something.
import type { ProbeResult } from "hookproof/probes";

/** A result; it passed, and 401 was expected of it, unless something else is given. */
export function resultOf(id: string, given: Partial<ProbeResult>): ProbeResult {
  return {
    id,
    title: `the ${id}`,
    section: "5.2",
    listenerChoice: "none",
    expected: [401],
    outcome: "pass",
    durationMs: 1,
    ...given,
  };
}

/** A result that failed, for its status. */
export const failed = (id: string, status: number, given: Partial<ProbeResult> = {}): ProbeResult =>
  resultOf(id, { status, outcome: "fail", ...given });

/** What a listener makes of right, harmless and wrong proofs, as it should. */
export const RIGHT = { right: 200, harmless: 400, wrong: 401 };
