// @ts-check
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: they are pieces of source
// Mutants of the schemes, as those of mutants.mjs are of the outbox.

const SET = "src/schemes/security-event-token";
const STANDARD = "src/schemes/standard-webhooks";
const HTTP = "src/schemes/http-signature";

/** By what mutants.json has a mutant. */
/** @param {{ store: string, name: string }} mutant */
export function schemeKeyOf({ store, name }) {
  return `schemes, ${store}: ${name}`;
}

/** @type {readonly (readonly [string, string, string, string])[]} */
const CHANGES = [
  [
    "each attempt signs a token with another jti",
    `${SET}/sign.ts`,
    "jti: eventId,",
    "jti: crypto.randomUUID(),",
  ],
  ["a token has the time of its attempt", `${SET}/sign.ts`, 'proof: "event"', 'proof: "attempt"'],
  ["a copy of a token is answered 409", `${SET}/answers.ts`, "EVENT_DUPLICATE: 202", "EVENT_DUPLICATE: 409"],
  [
    "a token that is refused for its key is a dead letter",
    `${SET}/answers.ts`,
    'invalid_key: {\n    outcome: "setup"',
    'invalid_key: {\n    outcome: "final"',
  ],
  [
    "a token from the future is a dead letter",
    "src/sender/attempt.ts",
    "return isAhead(provedAt, now)",
    "return isAhead(0, now)",
  ],
  [
    "standard webhooks: the timestamp of the first attempt is used again",
    `${STANDARD}/sign.ts`,
    'proof: "attempt"',
    'proof: "event"',
  ],
  [
    "standard webhooks: of a rotation only one secret signs",
    `${STANDARD}/sign.ts`,
    "signatures.map((one) => one(head, body))",
    "signatures.slice(0, 1).map((one) => one(head, body))",
  ],
  [
    "standard webhooks: 410 pauses nothing",
    `${STANDARD}/sign.ts`,
    "hints: GONE_HINTS, stopSending: true",
    "hints: GONE_HINTS",
  ],
  [
    "http signature: the time of the first attempt is used again",
    `${HTTP}/sign.ts`,
    'proof: "attempt"',
    'proof: "event"',
  ],
  [
    "http signature: 409 is a failure",
    `${HTTP}/answers.ts`,
    "if (answer.status === 409)",
    "if (answer.status === 499)",
  ],
];

export const SCHEME_MUTANTS = CHANGES.map(([name, file, text, instead]) => ({
  ...{ name, store: /** @type {const} */ ("memory"), file, text, instead },
  from: "the page",
}));
