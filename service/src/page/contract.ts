// What every page and its server say to each other: who asks, and why a call failed.
/** The header in which a page shows the token of its address. */
export const TOKEN_HEADER = "Inspector-Token";

/** Why a call failed. */
export interface Failure {
  readonly code: string;
  readonly message: string;
}
