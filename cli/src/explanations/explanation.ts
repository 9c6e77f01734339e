/** Why something happens, and what to do about it. */
export type Explanation = readonly [why: string, fix: string];

export const CONNECT = "hookproof doctor <url> looks at name, connection, certificate and clock.";
export const VERIFY = "Capture the request and let hookproof verify name the mistake.";
export const CLAIM =
  "Sign again at every attempt, for the listener's exact URL; hookproof verify --jwks shows both values.";
