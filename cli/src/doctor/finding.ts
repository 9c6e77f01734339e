/** What one check of `doctor` has found. */
export interface Finding {
  readonly id: string;
  readonly state: "ok" | "warn" | "fail";
  readonly message: string;
  /** What to do about it. */
  readonly hint?: string;
}
