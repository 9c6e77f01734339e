import { describeCode } from "hookproof/diagnose";
import type { Command } from "../command.js";
import { explainableNames, findExplanation } from "../explanations/find-explanation.js";
import { EXIT, usageError } from "../failure.js";
import { field } from "../output.js";
import { didYouMean } from "../suggest.js";

export const explain: Command = {
  name: "explain",
  describe: "What a code, a cause that verify names, or an exit code means, and what to do. Offline.",
  positionals: [
    {
      name: "code",
      required: true,
      describe: "such as SIGNATURE_MISMATCH, secret-base64url-decoded or 7",
      completes: "code",
    },
  ],
  flags: {},
  examples: [
    ["hookproof explain SIGNATURE_MISMATCH", "a code"],
    ["hookproof explain 7", "an exit code"],
    ["hookproof explain body-spaced", "the family of a cause"],
  ],
  exits: [],
  async run({ args, out }) {
    const given = args.text("code") ?? "";
    const found = findExplanation(given);
    if (!found)
      throw usageError(
        `There is nothing to explain under ${JSON.stringify(given)}.`,
        didYouMean(given, explainableNames()) ?? "Codes stand in the output as error[CODE].",
      );
    const { kind, name, explanation, example } = found;
    const [why, fix] = explanation;
    const described = kind === "code" ? describeCode(name) : undefined;
    out.document({
      type: "explanation",
      ok: true,
      kind,
      name,
      ...(described?.status === undefined ? {} : { status: described.status }),
      ...(described ? { message: described.message } : {}),
      why,
      fix,
      ...(example === undefined ? {} : { example }),
    });
    out.line(kind === "exit" ? `exit code ${name}` : kind === "cause" ? `${name}, a family of causes` : name);
    if (described) out.line(field("says", described.message));
    if (described?.status !== undefined) out.line(field("status", `a listener answers ${described.status}`));
    out.line(field("why", why));
    if (example !== undefined) out.line(field("such as", example));
    out.line(field("do", fix));
    return EXIT.ok;
  },
};
