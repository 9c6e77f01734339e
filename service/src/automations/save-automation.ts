// Checks an automation and keeps it.
import { type Clock, generateSecret } from "hookproof";
import type { KeySetUrlRules } from "hookproof/jwks";
import { notFound } from "../api/errors.js";
import { badRequest } from "../api/validation.js";
import type { Automations, StoredAutomation } from "../storage/automations.js";
import { newId } from "../storage/ids.js";
import type { AutomationInput } from "./automation.js";
import { checkAutomation } from "./check-automation.js";
import type { Expressions } from "./expressions.js";

/** What saving an automation takes. */
export interface SaveContext {
  readonly storage: { readonly automations: Automations };
  readonly expressions: Expressions;
  /** Where key sets may be fetched from. */
  readonly keySets: KeySetUrlRules;
  readonly clock: Clock;
}

/** Parts of an automation that are generated unless somebody brings them, as a fixture does. */
type Generated = {
  readonly [Part in "id" | "listenerId" | "hmacSecret" | "createdAt"]?: StoredAutomation[Part] | undefined;
};

/** An automation that has been saved. */
export interface SavedAutomation {
  readonly automation: StoredAutomation;
  /** The HMAC secret if it was made just now, and empty otherwise: this is the one time it is shown. */
  readonly signingSecret: string;
}

/**
 * Checks an automation and keeps it: a new one, or in the place of one that is there.
 *
 * @throws {ApiError} 400 with the path of every field that is wrong; 404 for an id that is not there
 */
export async function saveAutomation(
  context: SaveContext,
  input: AutomationInput,
  id?: string,
): Promise<SavedAutomation> {
  const problems = await checkAutomation(input, context.expressions, context.keySets);
  if (problems.length > 0) throw badRequest(problems);
  // Read after the check, and written before anything else happens: a secret may have been rotated meanwhile.
  const before: Generated | undefined = id === undefined ? {} : context.storage.automations.get(id);
  if (!before) throw notFound("automation");
  const automation = completeAutomation(input, before, context.clock.now());
  context.storage.automations.put(automation);
  const { hmacSecret } = automation;
  const isNew = hmacSecret !== undefined && hmacSecret !== before.hmacSecret;
  return { automation, signingSecret: isNew ? hmacSecret : "" };
}

/** An automation with all that is generated: ids, and the secret of an HMAC trigger. A JWT trigger has none. */
export function completeAutomation(input: AutomationInput, given: Generated, now: number): StoredAutomation {
  return {
    ...input,
    id: given.id ?? newId(),
    listenerId: given.listenerId ?? newId(),
    hmacSecret: input.trigger.hmac ? (given.hmacSecret ?? generateSecret()) : undefined,
    createdAt: given.createdAt ?? now,
    updatedAt: now,
  };
}

/** Gives an HMAC trigger a new secret; the old one is good for nothing from now on. */
export function rotateSecret({ storage, clock }: SaveContext, automation: StoredAutomation): SavedAutomation {
  const signingSecret = generateSecret();
  const rotated = { ...automation, hmacSecret: signingSecret, updatedAt: clock.now() };
  storage.automations.put(rotated);
  return { automation: rotated, signingSecret };
}
