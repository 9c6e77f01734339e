import type { Mistake } from "../rows/mistake.js";
import type { HttpSignatureInput } from "./http-signature/diagnose.js";
import type { SecurityEventInput } from "./security-event-token/diagnose.js";
import type { StandardWebhooksInput } from "./standard-webhooks/diagnose.js";

/** The name of a scheme besides the default one. */
export type OtherScheme = "standard-webhooks" | "http-signature" | "security-event-token";

/** What is known of a request of another scheme than the default one, by the scheme's name. */
export interface SchemeInputs extends Readonly<Record<OtherScheme, object>> {
  readonly "standard-webhooks": StandardWebhooksInput;
  readonly "http-signature": HttpSignatureInput;
  readonly "security-event-token": SecurityEventInput;
}

/** A scheme's mistakes, and how they are found. */
interface SchemeDoctor<Input> {
  readonly MISTAKES: readonly Mistake[];
  diagnosed(input: Input): readonly Mistake[] | Promise<readonly Mistake[]>;
}

/** Each is loaded when it is asked for: HTTP message signatures need a package that others do not have. */
const DOCTORS: { readonly [Name in OtherScheme]: () => Promise<SchemeDoctor<SchemeInputs[Name]>> } = {
  "standard-webhooks": () => import("./standard-webhooks/diagnose.js"),
  "http-signature": () => import("./http-signature/diagnose.js"),
  "security-event-token": () => import("./security-event-token/diagnose.js"),
};

/** Finds the mistakes of a request of this scheme, or lists all that it can have. */
export async function doctorOf<Name extends OtherScheme>(
  scheme: Name,
): Promise<SchemeDoctor<SchemeInputs[Name]>> {
  if (!Object.hasOwn(DOCTORS, scheme))
    throw new TypeError(`scheme must be one of ${Object.keys(DOCTORS).join(", ")}, or left out`);
  return DOCTORS[scheme]();
}
