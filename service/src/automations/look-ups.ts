// What a process of expressions asks the service, and what it is answered.
import type { Json } from "./template.js";

/** The type of a value of a stub, by its name in CEL; `dyn` is any. */
export type CelTypeName =
  | "string"
  | "int"
  | "double"
  | "bool"
  | "timestamp"
  | "duration"
  | "list"
  | "map"
  | "dyn";

/** `user` is a user or anything else with an `id`, and arrives as the id; `users` are one or a list of them. */
type ArgumentType = CelTypeName | "user" | "users";

/** What a process has to know of a function that it cannot answer itself. */
export interface Signature {
  readonly name: string;
  readonly takes: readonly ArgumentType[];
  readonly gives: CelTypeName;
}

/** A look-up that a process has asked for. */
export interface Wanted {
  readonly name: string;
  readonly args: readonly Json[];
}

/** What a look-up gave: the JSON of its value, or why there is none. */
export type Found = { readonly json: string } | { readonly failure: string };

/** What answers the functions that expressions have next to CEL's own. */
export interface LookUps {
  readonly signatures: readonly Signature[];
  /** Rejects when the signal is aborted. */
  answer(wanted: Wanted, signal: AbortSignal): Promise<Found>;
}
