// What the inspector refuses to do.
/** What the inspector refuses to do; the code is stable, and the status is the HTTP answer of its router. */
export class InspectorError extends Error {
  override readonly name = "InspectorError";
  readonly code: string;
  readonly status: number;

  constructor(status: number, code: string, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.status = status;
    this.code = code;
  }
}
