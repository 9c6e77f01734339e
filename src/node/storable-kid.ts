import { HookproofError } from "../errors.js";
import { shown } from "../protocol/check.js";
import { MAX_KEY_ID_LENGTH } from "../protocol/limits.js";

/** What a shell takes as it stands wherever a kid is completed or pasted, and no command line reads as a flag or a home. */
const STORABLE = /^[A-Za-z0-9_.][A-Za-z0-9._~:/+=@-]*$/;

/** Whether a key store keeps a key of this id. Key sets of others may have any text. */
export function isStorableKid(kid: unknown): kid is string {
  return typeof kid === "string" && kid.length <= MAX_KEY_ID_LENGTH && STORABLE.test(kid);
}

/** Refuses an id that a key store does not keep. */
export function checkStorableKid(kid: string | undefined): void {
  if (kid === undefined || isStorableKid(kid)) return;
  throw new HookproofError(
    "KEY_UNFIT",
    `The key id ${shown(kid)} cannot be kept: it must be 1 to ${MAX_KEY_ID_LENGTH} letters, digits and . _ ~ : / + = @ - with a letter, a digit, _ or . first. Give the key another one.`,
  );
}
