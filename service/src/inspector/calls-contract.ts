// What server and page of the inspector say about calls of the API.
/** What the inspector says of the calls of a service's API, and of its remote control; part of `contract.ts`. */

/** A call of the local service's API in the list; secrets in it are hidden. */
export interface CallRow {
  /** Its number, which never changes and is never given twice; larger is newer. */
  readonly n: number;
  readonly at: number;
  readonly method: string;
  /** The path and the query; shortened in the list. */
  readonly target: string;
  /** 0 where the connection was cut. */
  readonly status: number;
  readonly durationMs: number;
  /** The `operationId`; absent where no operation has this path and method. */
  readonly operation?: string;
  /** The client whose token it brought or, where it asked for one, that it says it is. */
  readonly client?: string;
  /** The answer was set on purpose. */
  readonly isFault?: true;
}

/** Everything about one call. */
export interface CallDetail extends CallRow {
  /** `X-Request-Id` of the answer. */
  readonly requestId: string;
  readonly sourceAddress?: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** As JSON, the way its operation read it; absent where it had none, or did not come to read it. */
  readonly body?: string;
  readonly answer: {
    readonly headers: readonly (readonly [name: string, value: string])[];
    readonly body?: string;
  };
}

/** The calls that a text is found in, newest first. */
export interface CallPage {
  readonly rows: readonly CallRow[];
}

/** What is set to go wrong with an operation; the fault is one of the service's OpenAPI document. */
export interface SetFault {
  readonly operation: string;
  readonly fault: object;
}

/** The service's clock; `now` is ISO 8601. */
export interface ClockState {
  readonly now: string;
  readonly frozen: boolean;
}

/** A copy of the service's state under a name. */
export interface SavedSnapshot {
  readonly name: string;
  readonly createdAt: string;
}
