// What a diagnosis knows of a request of HTTP message signatures and of its receiver.
import type { Dictionary, InnerList } from "structured-headers";
import type { ReceivedHeaders } from "../../../core/headers.js";

/** One signature of a request. */
export interface Signature {
  readonly components: readonly string[];
  readonly input: InnerList;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** What is known of a request and of its receiver. */
export interface SignedRequestFacts {
  readonly headers: ReceivedHeaders;
  readonly body: Uint8Array;
  /** The values of the headers, joined. */
  readonly input: string;
  readonly signature: string;
  readonly digest: string;
  /** What can be read of the two headers. */
  readonly inputs: Dictionary | undefined;
  readonly signatures: Dictionary | undefined;
  /** The signature with its input that is looked at. */
  readonly first: Signature | undefined;
  readonly covered: readonly string[];
  /** The tag that is agreed on. */
  readonly tag: string | undefined;
  readonly now: number;
  /** Why no key was found for it; undefined if one was, or nothing could be looked up. */
  readonly keyProblem: { readonly kind: "unknown" | "other-kind"; readonly detail?: string } | undefined;
  /** The document of the key set. */
  readonly jwks: unknown;
}
