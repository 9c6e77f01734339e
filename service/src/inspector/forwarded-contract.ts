// What server and page of the inspector say of requests that were forwarded.

/** What an application answered to a request that was forwarded to it, or why it did not. */
export type Forwarded =
  | {
      readonly url: string;
      readonly status: number;
      /** The beginning of its body, as text. */
      readonly body?: string;
      readonly ms?: number;
    }
  | { readonly url: string; readonly error: string };
