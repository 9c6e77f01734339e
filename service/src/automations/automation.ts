// What an automation is, as its owner writes it.
import type { Schemas } from "../api/validation.js";
import type { Step } from "./run-steps.js";
import type { Templates } from "./template.js";

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

/** An automation as it was sent, with what was left out. */
export function inputOf({
  displayName = "",
  trigger,
  allowedCidrs = [],
  published = true,
  enabled = true,
  steps = [],
}: Schemas["AutomationInput"]): AutomationInput {
  return {
    displayName,
    trigger: {
      ...(trigger.hmac === undefined ? {} : { hmac: {} }),
      ...(trigger.jwt === undefined ? {} : { jwt: { jwksUrl: trigger.jwt.jwksUrl } }),
    },
    allowedCidrs,
    published,
    enabled,
    steps: steps.map(({ name, condition = "", templates = {} }) => ({
      name,
      condition,
      templates: templates as Templates,
    })),
  };
}
