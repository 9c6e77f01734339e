import { SNIPPETS, snippetOf } from "../../src/snippets.js";

const FENCES: Readonly<Record<string, string>> = { csharp: "csharp", shell: "bash" };

const PARTS = [
  ["hmac", "sign", "sign by hmac"],
  ["hmac", "send", "sign by hmac and send"],
  ["hmac", "verify", "verify an hmac signature"],
  ["jwt", "sign", "sign a token"],
  ["jwt", "send", "sign a token and send it"],
  ["jwt", "verify", "verify a token"],
] as const;

/** The page docs/snippets.md: every program that `hookproof snippet` prints. */
export function snippetPage(): string {
  return [
    "# Signing, sending and verifying in any language",
    "",
    "What `hookproof snippet --lang <language> --method hmac|jwt --do sign|send|verify` prints, made from the same files by `npm run generate`. Each is a whole program; take the function out of it. Signatures and tokens are as the [specification](specification.md) says; a receiver also has to remember event ids, which needs a database ([receiving](guides/receiving.md)).",
    "",
    "Those that send go to `hookproof listen` unless they are given another URL; they print the answer and follow no redirect. An attempt that is made again has the same event id, which is their last argument. The tests run a program over the [vectors](../vectors/README.md), unless it says otherwise. Tokens are RS256 here, as every language signs that alone; for ES256 and EdDSA take the library that is named.",
    "",
    ...Object.entries(SNIPPETS).map(([, { title }]) => `- [${title}](#${anchorOf(title)})`),
    "",
    ...Object.entries(SNIPPETS).flatMap(([name, { title, library }]) => [
      `## ${title}`,
      "",
      `The usual library for tokens: ${library}.`,
      "",
      ...PARTS.flatMap(([method, action, does]) => {
        const snippet = snippetOf(name, method, action);
        return [
          `### ${title}: ${does}`,
          "",
          ...(snippet?.tested ? [] : ["No test of this project has run this one.", ""]),
          `\`\`\`${FENCES[name] ?? name}`,
          snippet?.code.trimEnd() ?? "",
          "```",
          "",
        ];
      }),
    ]),
  ].join("\n");
}

function anchorOf(title: string): string {
  return title.toLowerCase().replace("#", "");
}
