/** A listener with one thing wrong, and the probes that must say so. */
export interface Mutant<Flaw> {
  readonly name: string;
  readonly flaw: Flaw;
  /** Every probe that fails. */
  readonly fails: readonly string[];
  /** Every probe that is unclear because of it. */
  readonly unclear?: readonly string[];
}
