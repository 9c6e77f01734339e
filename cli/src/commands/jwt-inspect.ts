// The command that takes a token apart and says what is wrong with it.
import { existsSync } from "node:fs";
import type { Command } from "../command.js";
import { EXIT, usageError } from "../failure.js";
import { readText } from "../files.js";
import { countOf } from "../output.js";

export const jwtInspect: Command = {
  name: "jwt inspect",
  details: "Neither the signature nor a claim is checked.",
  positionals: [
    {
      name: "file",
      describe: "a file with the token, or - for standard input, the default",
      required: false,
    },
  ],
  flags: {},
  examples: [
    ["hookproof jwt inspect token.txt", "a token in a file"],
    ["pbpaste | hookproof jwt inspect -", "a token from the clipboard"],
  ],
  exits: [[3, "the file cannot be read"]],
  async run({ args, io, out }) {
    const file = args.text("file");
    if (file === undefined && io.stdin.isTTY)
      throw usageError("Give a file with the token, or - and the token on standard input.");
    if (file !== undefined && !existsSync(file) && /^(?:Bearer\s+)?eyJ[\w-]*\.[\w-]+\.[\w-]*$/i.test(file))
      throw usageError(
        "This is a token, and not a file: other users of the machine can read a command line.",
        "Give the token on standard input: hookproof jwt inspect -",
      );
    const text = await readText(io, file ?? "-");
    const segments = text
      .trim()
      .replace(/^(?:Authorization:\s*)?Bearer\s+/i, "")
      .split(".");
    if (segments.length !== 3)
      throw usageError(`A token has three segments; this text has ${segments.length}.`);
    const [header, claims] = [decoded(segments[0], "header"), decoded(segments[1], "claims")];
    const signatureBytes = Buffer.from(segments[2] ?? "", "base64url").length;
    out.document({ type: "jwt", ok: true, verified: false, header, claims, signatureBytes });
    out.line(`header     ${out.code(JSON.stringify(header))}`);
    out.line("claims");
    for (const [name, value] of Object.entries(claims))
      out.line(`  ${name.padEnd(9)} ${out.code(JSON.stringify(value))}${timeOf(name, value)}`);
    out.line(`signature  ${countOf(signatureBytes, "byte")}`);
    out.warn(
      "NOT VERIFIED: anybody can write such a token. To check it: hookproof verify, or hookproof jwks check --token",
    );
    return EXIT.ok;
  },
};

/** The JSON object of a token's segment. */
export function decoded(segment: string | undefined, name: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(Buffer.from(segment ?? "", "base64url").toString("utf8"));
    JSON.stringify(value); // what is nested too deeply to be written fails here, and not while it is shown
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return { ...value };
  } catch {
    // The same answer as for a value that is no object.
  }
  throw usageError(`The token's ${name} must be a JSON object in base64url that can be shown.`);
}

/** The time that a claim holds, to be shown behind it. */
export function timeOf(name: string, value: unknown): string {
  const isTime =
    ["exp", "iat", "nbf", "toe"].includes(name) && typeof value === "number" && Math.abs(value) < 8e12;
  return isTime ? `  ${new Date(value * 1000).toISOString().replace(".000Z", "Z")}` : "";
}
