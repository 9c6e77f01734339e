// Why a state cannot be made or used.
/** A state that cannot be made or used. */
export class StateError extends Error {
  override readonly name = "StateError";
  readonly code:
    | "DATABASE_MISSING"
    | "DATABASE_NOT_EMPTY"
    | "FILE_TOO_LARGE"
    | "IDENTITY_MISSING"
    | "IDENTITY_WRONG";

  constructor(code: StateError["code"], message: string) {
    super(message);
    this.code = code;
  }
}
