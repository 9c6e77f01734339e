/** How many cases a property is tried on: more when somebody takes the time (HOOKPROOF_LONG). */
export const runs = { numRuns: process.env.HOOKPROOF_LONG ? 5_000 : 200 };
