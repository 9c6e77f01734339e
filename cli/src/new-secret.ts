import type { Context, Flag } from "./command.js";
import { CliError, EXIT } from "./failure.js";
import { checkedOrigin, originOf } from "./origin-rule.js";
import type { StoredSecrets } from "./stored-secrets.js";

/** The flag that says whose a stored secret is, where no profile's target does. */
export const STORED_ORIGIN_FLAG = {
  origin: {
    type: "string",
    value: "<url>",
    describe: "the scheme, host and port it may sign for; the profile's target by default",
  },
} as const satisfies Record<string, Flag>;

/**
 * What is stored of new secrets: their origin is the flag's, or that of the profile's target in its own file. A
 * rotation keeps the present secret, and so its origin.
 */
export function newlyStored(
  { args, config }: Pick<Context, "args" | "config">,
  secret: string,
  present: StoredSecrets | undefined,
): StoredSecrets {
  const given = args.text("origin");
  const named = given === undefined ? originOf(config.ownText("target")) : checkedOrigin(given, "--origin");
  if (present === undefined) return { secrets: [secret], origin: named };
  const origin = named ?? present.origin;
  if (present.origin !== undefined && origin !== present.origin)
    throw new CliError(
      EXIT.setup,
      "SECRET_OTHER_ORIGIN",
      `The present secret signs for ${present.origin}, and the new one would for ${origin}.`,
      { hint: "Leave --rotate out to replace it." },
    );
  const [newest] = present.secrets;
  return { secrets: newest === undefined || newest === secret ? [secret] : [secret, newest], origin };
}
