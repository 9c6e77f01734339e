// Tells the compiler which payloads JSON would empty or change.

/** What is known by its shape, whatever library it is of: promises, maps, bodies of HTTP, streams, forms. */
type Lossy =
  | bigint
  | symbol
  | PromiseLike<unknown>
  | ReadonlyMap<unknown, unknown>
  | ReadonlySet<unknown>
  | RegExp
  | { arrayBuffer(): PromiseLike<unknown> }
  | { getReader(): unknown }
  | { append(name: never, value: never): unknown; delete(name: never): unknown };

/**
 * Whether JSON would lose a value or one inside of it, as far as `Levels` goes; `any` may be everything. In tuples, so that
 * the compiler takes a type parameter as `any` as well.
 */
type Loses<Value, Levels extends readonly unknown[]> = [0] extends [1 & Value]
  ? false
  : Value extends { toJSON(...given: never[]): unknown } | ArrayBuffer | ArrayBufferView
    ? false
    : Value extends Lossy
      ? true
      : Levels extends readonly [unknown, ...infer Rest]
        ? Value extends readonly (infer Item)[]
          ? Loses<Item, Rest>
          : Value extends object
            ? { [Name in keyof Value]-?: Loses<Value[Name], Rest> }[keyof Value]
            : false
        : false;

/** A class has functions for methods, so that they are seen at the top alone. */
type IsFunction<Value> = [0] extends [1 & Value]
  ? false
  : Value extends (...given: never[]) => unknown
    ? true
    : false;

/**
 * Any payload but one that `createEvent` refuses, where the compiler can see it: at the top and four levels below. The
 * type of a payload that a generic function passes on is not known here, and is taken.
 */
export type KeptPayload<Payload> = [true] extends [Loses<Payload, [1, 1, 1, 1]> | IsFunction<Payload>]
  ? "JSON would lose this payload, or a value in it: await a Promise, write a BigInt as a text"
  : unknown;

/** Without a catalogue, which has types of its own: a message with a payload that JSON keeps, as far as that can be seen. */
export type KeptMessage<Given, Events extends object> = string extends keyof Events
  ? Given extends { readonly payload: infer Payload }
    ? { readonly payload: KeptPayload<Payload> }
    : unknown
  : unknown;
