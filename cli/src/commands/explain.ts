// The command that explains a code, a status, a mistake or an exit code.

import type { Command } from "../command.js";
import { type Explained, explainableNames, findExplanations } from "../explain/find-explanation.js";
import { didYouMean, EXIT, usageError } from "../failure.js";
import { field, type Output } from "../output.js";
import { SCHEME_EXAMPLES, SCHEME_FLAGS } from "../schemes/chosen-scheme.js";

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
  flags: { scheme: { ...SCHEME_FLAGS.scheme, describe: "a mistake of this scheme alone" } },
  examples: [
    ["hookproof explain SIGNATURE_MISMATCH", "an error code"],
    ["hookproof explain 401", "an HTTP status"],
    ["hookproof explain 7", "an exit code"],
    ["hookproof explain body-spaced", "a mistake"],
    SCHEME_EXAMPLES.explain,
  ],
  exits: [],
  async run({ args, out }) {
    const given = args.text("code") ?? "";
    const [found, ...others] = await findExplanations(given, args.text("scheme"));
    if (!found)
      throw usageError(
        `There is nothing to explain under ${JSON.stringify(given)}.`,
        didYouMean(given, await explainableNames()) ?? "The output shows codes as error[CODE].",
      );
    const also =
      others.length === 0 ? {} : { also: others.map((one) => ({ kind: one.kind, ...membersOf(one) })) };
    out.document({
      type: "explanation",
      ok: true,
      kind: found.kind,
      name: found.name,
      ...membersOf(found),
      ...also,
    });
    for (const one of [found, ...others]) print(out, one);
    return EXIT.ok;
  },
};

/** The members of a document that an explanation has, in their order. */
function membersOf({ scheme, status, message, explanation: [cause, fix], example, codes }: Meaning) {
  const members = { scheme, status, message, cause, fix, example, codes };
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

/** What stands before a name that is not one by itself. */
const WORDS: Readonly<Partial<Record<Explained["kind"], string>>> = {
  exit: "exit code ",
  status: "HTTP status ",
  probe: "probe ",
};

type Meaning = Omit<Explained, "kind" | "name">;

function print(out: Output, { kind, name, scheme, explanation: [cause, fix], ...more }: Explained): void {
  const { message, status, example, codes = [] } = more;
  const of = scheme === undefined ? "" : `  (--scheme ${scheme})`;
  out.line(`${WORDS[kind] ?? ""}${name}${of}`);
  if (message !== undefined) out.line(field("says", message));
  if (status !== undefined && kind !== "status") out.line(field("status", `a listener answers ${status}`));
  if (cause !== message) out.line(field("cause", cause));
  if (example !== undefined) out.line(field("such as", example));
  out.line(field("fix", fix));
  if (codes.length > 0) out.line(field("codes", codes.join(" ")));
}
