import type { Command } from "../command.js";
import { explainableNames, findExplanation } from "../explain/find-explanation.js";
import { didYouMean, EXIT, usageError } from "../failure.js";
import { field } from "../output.js";

export const explain: Command = {
  name: "explain",
  positionals: [
    {
      name: "code",
      required: true,
      describe: "such as SIGNATURE_MISMATCH, secret-base64url-decoded, 401 or 7",
      completes: "code",
    },
  ],
  flags: {},
  examples: [
    ["hookproof explain SIGNATURE_MISMATCH", "an error code"],
    ["hookproof explain 401", "an HTTP status"],
    ["hookproof explain 7", "an exit code"],
    ["hookproof explain body-spaced", "a mistake"],
  ],
  exits: [],
  async run({ args, out }) {
    const given = args.text("code") ?? "";
    const found = findExplanation(given);
    if (!found)
      throw usageError(
        `There is nothing to explain under ${JSON.stringify(given)}.`,
        didYouMean(given, explainableNames()) ?? "The output shows codes as error[CODE].",
      );
    const { kind, name, explanation, message, status, example, codes } = found;
    const [cause, fix] = explanation;
    out.document({
      type: "explanation",
      ok: true,
      kind,
      name,
      ...(status === undefined ? {} : { status }),
      ...(message === undefined ? {} : { message }),
      cause,
      fix,
      ...(example === undefined ? {} : { example }),
      ...(codes === undefined ? {} : { codes }),
    });
    out.line(kind === "exit" ? `exit code ${name}` : kind === "status" ? `HTTP status ${name}` : name);
    if (message !== undefined) out.line(field("says", message));
    if (status !== undefined && kind !== "status") out.line(field("status", `a listener answers ${status}`));
    if (cause !== message) out.line(field("cause", cause));
    if (example !== undefined) out.line(field("such as", example));
    out.line(field("fix", fix));
    if (codes !== undefined && codes.length > 0) out.line(field("codes", codes.join(" ")));
    return EXIT.ok;
  },
};
