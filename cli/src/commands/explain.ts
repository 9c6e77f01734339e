// The command that explains a code, a status, a mistake or an exit code.

import { describeCode } from "hookproof/diagnose";
import type { Command } from "../command.js";
import {
  codeOfOtherName,
  type Explained,
  explainableNames,
  findExplanations,
  type Hit,
  searchExplanations,
} from "../explain/find-explanation.js";
import { closest, didYouMean, EXIT, usageError } from "../failure.js";
import { field, type Output } from "../output.js";
import { SCHEME_EXAMPLES, SCHEME_FLAGS } from "../schemes/chosen-scheme.js";

export const explain: Command = {
  name: "explain",
  positionals: [
    {
      name: "code",
      required: true,
      describe: "such as SIGNATURE_MISMATCH, secret-base64url-decoded, 401 or 7; or words to search for",
      completes: "code",
    },
  ],
  flags: { scheme: { ...SCHEME_FLAGS.scheme, describe: "a mistake of this scheme alone" } },
  examples: [
    ["hookproof explain SIGNATURE_MISMATCH", "an error code"],
    ["hookproof explain 401", "an HTTP status"],
    ["hookproof explain 7", "an exit code"],
    ["hookproof explain body-spaced", "a mistake"],
    ["hookproof explain ECONNREFUSED", "the name that a system has for an error"],
    ["hookproof explain decoded", "a word: what has it"],
    SCHEME_EXAMPLES.explain,
  ],
  exits: [],
  async run({ args, out }) {
    const given = args.text("code") ?? "";
    const scheme = args.text("scheme");
    const [found, ...others] = await findExplanations(codeOfOtherName(given) ?? given, scheme);
    if (!found) return search(out, given, scheme);
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

/** What has the words, or a name that is nearly the same. */
async function search(out: Output, given: string, scheme: string | undefined): Promise<number> {
  const names = await explainableNames();
  const near = closest(given, names);
  const hits = await searchExplanations(given, scheme);
  if (hits.length === 0)
    throw usageError(
      `There is nothing to explain under ${JSON.stringify(given.slice(0, MAX_SHOWN))}.`,
      didYouMean(given.slice(0, MAX_SHOWN), names) ?? "The output shows codes as error[CODE].",
    );
  const meant = near === undefined ? {} : { meant: near };
  out.document({ type: "explanations", ok: true, searched: given, ...meant, found: hits });
  for (const hit of hits) out.line(lineOf(hit));
  const [first] = hits;
  const of = near === undefined ? (first?.scheme ?? scheme) : scheme;
  out.note(`next: hookproof explain ${near ?? first?.name}${of === undefined ? "" : ` --scheme ${of}`}`);
  return EXIT.ok;
}

const MAX_SHOWN = 100;

function lineOf({ kind, name, scheme, says }: Hit): string {
  return `${WORDS[kind] ?? ""}${name}${scheme === undefined ? "" : `  (--scheme ${scheme})`}  ${says}`;
}

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
  const width = Math.max(...codes.map((code) => code.length));
  for (const [index, code] of codes.entries())
    out.line(
      field(
        index === 0 ? "codes" : "",
        `${code.padEnd(width)}  ${describeCode(code, "command")?.message ?? ""}`,
      ),
    );
}
