// Makes a state of any size from a seed.
import type { Fixture } from "../fixture.js";
import { app } from "./app.js";
import { authConfigs } from "./auth-configs.js";
import { automation } from "./automation.js";
import { bridge } from "./bridge.js";
import { idsOf } from "./draw.js";
import { paperSecrets } from "./paper-secrets.js";
import { directoryOf, user } from "./people.js";

/** What a seed is made from. */
export interface Seed {
  /** The same number gives the same state, id by id; 42 by default. */
  seed?: number | undefined;
  /** How many users there are, all in one cohort; 250 by default. */
  users?: number | undefined;
}

/** What is not made up: whoever may use a service must not be able to guess it from a number. */
interface SeedCredentials {
  /** The client that is Super Admin. */
  clientId: string;
  /** The secret of the webhook listener. */
  signingSecret: string;
}

/** When everything in a seed begins. */
const START = Date.parse("2026-01-01T00:00:00Z");

/** Users in one part. */
const PART = 1_000;

/** A seed with every choice made. */
export function settledSeed({ seed = 42, users = 250 }: Seed): { seed: number; users: number } {
  if (!Number.isSafeInteger(seed) || seed < 0) throw new RangeError("seed must be a whole number, 0 or more");
  if (!Number.isSafeInteger(users) || users < 1)
    throw new RangeError("users must be a whole number, 1 or more");
  return { seed, users };
}

/**
 * The state of a seed in parts that belong together, one after another: however many users there are, only those
 * of one part are in memory.
 */
export function* seedParts(options: Seed, { clientId, signingSecret }: SeedCredentials): Generator<Fixture> {
  const { seed, users } = settledSeed(options);
  const idOf = idsOf(seed);
  const cohort = {
    id: idOf("suggestion"),
    displayName: "Everybody",
    createdAt: new Date(START).toISOString(),
  };
  const directory = directoryOf(seed);
  for (let from = 0; from < users; from += PART) {
    const part = Array.from({ length: Math.min(PART, users - from) }, (_, n) =>
      user(seed, from + n, START, directory),
    );
    yield { users: part, suggestions: [{ ...cohort, userIds: part.map(({ id }) => id) }] };
  }
  yield {
    clients: [
      { id: clientId, displayName: "Local administrator", role: "super-admin", userId: idOf("user") },
    ],
    authConfigs: authConfigs(seed, START),
    apps: [app(seed, users, START)],
    bridges: [bridge(seed, START)],
    secrets: paperSecrets(seed, START),
    automations: [automation(seed, signingSecret, START)],
  };
}
