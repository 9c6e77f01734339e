// What server and page of the inspector say to each other about an automation that is run step by step.

/** An automation that was run step by step: `DebugAutomationResponse` of the service. */
export interface DebuggedRun {
  readonly status: string;
  readonly steps: readonly {
    readonly name: string;
    readonly status: string;
    readonly result?: object;
    readonly failure?: { readonly code: string; readonly message: string };
    readonly expressions: readonly DebuggedExpression[];
  }[];
}

/** What an expression saw, gave and took. Values are JSON texts. */
export interface DebuggedExpression {
  readonly path: string;
  readonly expression: string;
  readonly value?: string;
  readonly failure?: { readonly code: string; readonly message: string };
  readonly failed?: {
    readonly expression: string;
    readonly place: string;
    readonly on: readonly { readonly expression: string; readonly value: string }[];
  };
  readonly usedMs: number;
  readonly parts: readonly {
    readonly expression: string;
    readonly place: string;
    readonly times: number;
    readonly value: string;
  }[];
}
