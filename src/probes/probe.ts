/** A listener's way to prove requests (specification 5.2). */
export type ProbeMethod = "hmac" | "jwt";

/**
 * What the specification leaves to the receiver: `nothing`; the `status` of a refusal, though refused it must be;
 * or the `refusal` itself. A deviation in what is left open is unclear, not a failure.
 */
export type LeftOpen = "nothing" | "status" | "refusal";

/** One probe of the battery, as data. */
export interface Probe {
  /** Stable, in kebab-case, such as `timestamp-too-old`. */
  readonly id: string;
  /** What is sent. */
  readonly title: string;
  readonly methods: readonly ProbeMethod[];
  /** The section of the specification that speaks of it. */
  readonly section: string;
  /** The statuses a listener should answer with. */
  readonly expected: readonly number[];
  /** Whether a correct listener runs its automation for it. */
  readonly runsAutomation: boolean;
  readonly leftOpen: LeftOpen;
  /** The paragraph of docs/decisions.md, or the RFC, that `expected` follows where the specification is silent. */
  readonly decision?: string;
  /** What a listener that answers otherwise gets wrong. */
  readonly means: string;
  readonly fix: string;
}
