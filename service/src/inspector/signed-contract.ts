// What server and page say of a signature by another scheme than the service's own.

/** What a signature by another scheme covers, and what should have come. */
export interface SignedDetail {
  /** The bytes, as base64. */
  readonly coveredBase64: string;
  /** The header lines that the listener's own signer makes for the same id, time and body; none without a secret. */
  readonly lines: readonly SignedLine[];
}

/** A header line of a proof. */
interface SignedLine {
  readonly name: string;
  readonly expected: string;
  /** As sent; absent where there was none, or several. */
  readonly received?: string;
}
