// The command that prints a program that sends or verifies in another language.
import type { Command } from "../command.js";
import { EXIT, usageError } from "../failure.js";
import { SNIPPETS, type SnippetAction, type SnippetMethod, snippetOf } from "../snippets.js";

/** What a program that sends has to be given. */
const GIVEN: Readonly<Record<SnippetMethod, string>> = {
  hmac: "Give it the listener's secret in HOOKPROOF_SECRET; hookproof listen --write-secret <file> writes down its own.",
  jwt: "Give it the key's kid, and the private key of RS256 in a file that HOOKPROOF_KEY names: hookproof keys export <kid> --private --yes --format pem.",
};

export const snippet: Command = {
  name: "snippet",
  details:
    "Whole programs, run over the vectors where this project has the language's tools. Those for tokens take RS256.",
  flags: {
    lang: {
      type: "string",
      choices: Object.keys(SNIPPETS),
      describe: "the language",
    },
    method: { type: "string", choices: ["hmac", "jwt"], default: "hmac", describe: "signature or token" },
    do: {
      type: "string",
      choices: ["sign", "verify", "send"],
      default: "sign",
      describe: "what the program does; send goes to hookproof listen unless it is given a URL",
    },
  },
  examples: [
    ["hookproof snippet --lang go", "sign in Go"],
    ["hookproof snippet --lang ruby --do send > send.rb", "sign and send in Ruby, to hookproof listen"],
    ["hookproof snippet --lang python --method jwt --do verify > verify.py", "check tokens in Python"],
  ],
  exits: [],
  async run({ args, out }) {
    const lang = args.text("lang");
    if (lang === undefined)
      throw usageError("--lang is missing.", `One of ${Object.keys(SNIPPETS).join(", ")}.`);
    const [method, action] = [args.text("method") as SnippetMethod, args.text("do") as SnippetAction];
    const found = snippetOf(lang, method, action);
    if (!found) throw usageError("--lang is no language with a snippet.");
    out.document({ type: "snippet", ok: true, lang, method, do: action, ...found });
    if (!out.json) out.write(found.code);
    if (method === "jwt") out.note(`The usual library for tokens: ${found.library}.`);
    if (action === "send")
      out.note(
        `It sends a body on its standard input, by default to what hookproof listen runs on port 4400. ${GIVEN[method]}`,
      );
    else
      out.note(
        `Its first lines say how it is run.${action === "sign" ? " It sends nothing; with --do send it does." : ""}`,
      );
    if (!found.tested)
      out.note("No test of this project has run it, as the compiler or a library is missing there.");
    return EXIT.ok;
  },
};
