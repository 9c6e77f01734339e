// What the page asks of a test event. The limits are those of contract.ts.

/** A test event: to which listener, and the JSON text that it says; one that its scheme can sign by default. */
export interface TestEventOrder {
  readonly listenerId: string;
  readonly body?: string;
}
