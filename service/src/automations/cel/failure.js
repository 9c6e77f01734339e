// A failure of an expression, by its code.
/** A failure with one of the codes of `StepFailure`. */
export class Failure extends Error {
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

/** Whether the engine gave up: the stack, a text or a buffer grew past what it can hold. */
export function isTooLarge({ message }) {
  return /call stack size|Invalid (string|array) length|allocation failed/.test(message);
}
