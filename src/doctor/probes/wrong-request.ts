// What a request with known mistakes is, by which a listener that makes them too is found.
import type { BuiltRequest } from "./probe.js";
import type { RequestKit } from "./requests.js";

/** A request with known mistakes. A listener that accepts it makes them too; a correct one refuses it. */
export interface WrongRequest<Kit extends RequestKit> {
  /** The ids of the mistakes. */
  readonly mistakes: readonly string[];
  /** 1 for what people do every day; the higher, the later it is tried. */
  readonly weight: number;
  build(kit: Kit): BuiltRequest | Promise<BuiltRequest>;
  /** Requests that tell the variants of this one apart, with what each shows. */
  readonly variants?: readonly (WrongRequest<Kit> & { readonly detail: string })[];
}
