// Goes on from a value or a promise in one way.
/**
 * What follows from a value of our own code that is there, or promised. Where it is there it follows at once: a promise
 * would cost as much as a check. What a caller's function gave may be another library's promise; that is awaited.
 */
export function andThen<Value, Next>(
  value: Value | Promise<Value>,
  next: (value: Value) => Next,
): Next | Promise<Next> {
  return value instanceof Promise ? value.then<Next>(next) : next(value);
}
