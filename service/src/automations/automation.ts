import type { Step } from "./run-steps.js";

/** Who may start an automation: a sender that has its secret, or one that signs with a key of the set at this URL. */
export interface Trigger {
  readonly hmac?: object | undefined;
  readonly jwt?: { readonly jwksUrl: string } | undefined;
}

/** An automation as its owner writes it. */
export interface AutomationInput {
  readonly displayName: string;
  readonly trigger: Trigger;
  /** Address ranges events may come from; none means from anywhere. */
  readonly allowedCidrs: readonly string[];
  /** Events are accepted while it is published and enabled; otherwise they are 404 TRIGGER_INACTIVE. */
  readonly published: boolean;
  readonly enabled: boolean;
  readonly steps: readonly Step[];
}
