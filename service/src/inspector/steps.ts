import type { Check, CheckStep } from "hookproof/receiver";
import type { Step } from "./contract.js";

const BEFORE_CREDENTIAL = [
  ["listener", "the path names a listener that exists"],
  ["method", "the method is POST"],
  ["source", "the source address is in an allowed range, if there are any"],
  ["size", "the body is complete and has at most 65536 bytes"],
  ["timestamp", "Webhook-Timestamp is one Unix time in whole seconds"],
  ["event-id", "Webhook-Event-Id is one UUID of version 4"],
  ["content-type", "Content-Type is present, once"],
  ["window", "the timestamp is at most 300 s from the server's time"],
] as const;

const HMAC = [
  ["credential", "Webhook-Signature is present, once"],
  [
    "signature",
    "the signature is HMAC-SHA256 over {timestamp}.{event_id}.{body}, 43 characters of base64url",
  ],
] as const;

const JWT = [
  ["credential", "Authorization is present, once"],
  ["token", "Authorization is one Bearer token: three canonical segments, no header member that is refused"],
  ["key", "the key set has one usable key for the token's kid and alg"],
  ["signature", "the token's signature is by that key"],
  ["exp", "exp is a whole number, after now and at most 600 s ahead"],
  ["sub", "sub is the tenant's base URL"],
  ["aud", "aud is the listener's URL, as one string"],
  ["jti", "jti is the event id"],
  ["htm", "htm is the method, in capitals"],
  ["htb_s256", "htb_s256 is the SHA-256 of the body, base64url without padding"],
] as const;

const AFTER_CREDENTIAL = [
  ["body", "the body is one JSON value in UTF-8, without a byte order mark"],
  ["replay", "the event id was not processed for this listener in the last 7 days"],
  ["trigger", "the automation is published and its trigger enabled"],
  ["run", "the automation accepts the event"],
] as const;

/** What each step of a method demands, in the service's own order: what a verdict says of a step it reached. */
export const STEP_RULES: Readonly<
  Record<"hmac" | "jwt", readonly (readonly [step: CheckStep, rule: string])[]>
> = {
  hmac: [...BEFORE_CREDENTIAL, ...HMAC, ...AFTER_CREDENTIAL],
  jwt: [...BEFORE_CREDENTIAL, ...JWT, ...AFTER_CREDENTIAL],
};

/** The verdict step by step, and the steps that it did not come to. */
export function stepsOf(checks: readonly Check[], auth: "hmac" | "jwt" | undefined): Step[] {
  const reached = new Set(checks.map(({ step }) => step));
  const all = auth === undefined ? [] : STEP_RULES[auth];
  return [
    ...checks.map(({ ok, ...check }) => ({
      ...check,
      state: ok ? ("passed" as const) : ("failed" as const),
    })),
    ...all
      .filter(([step]) => !reached.has(step))
      .map(([step, rule]) => ({ step, state: "not-reached" as const, rule })),
  ];
}
