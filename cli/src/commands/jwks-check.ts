import { checkKeySet, type KeySetCheck } from "hookproof/jwks";
import type { Command } from "../command.js";
import { EXIT } from "../failure.js";
import { readStdin } from "../io.js";
import type { Colour } from "../output.js";
import { readTextFile } from "../private-file.js";

export const jwksCheck: Command = {
  name: "jwks check",
  describe: "Checks a key set from outside, as a listener fetches it, and names every rule.",
  positionals: [{ name: "url", describe: "the key set's URL", required: true }],
  flags: { token: { type: "string", value: "<file|->", describe: "a token whose signature should verify" } },
  examples: [
    ["hookproof jwks check https://keys.example.com/.well-known/jwks.json", "every rule"],
    ["hookproof jwks check http://127.0.0.1:4410/.well-known/jwks.json --json", "a host on this machine"],
  ],
  exits: [[7, "a rule is broken"]],
  async run({ args, io, out }) {
    const file = args.text("token");
    const text =
      file === undefined
        ? undefined
        : file === "-"
          ? (await readStdin(io)).toString("utf8")
          : await readTextFile(file);
    const token = text?.trim().replace(/^Bearer /i, "");
    const { ok, checks } = await checkKeySet(args.text("url") ?? "", {
      allowInsecureLoopback: true,
      allowedCidrs: ["127.0.0.0/8", "::1/128"],
      token,
    });
    out.document({ type: "jwks-check", ok, checks });
    for (const check of checks)
      out.line(
        `${out.paint(COLOUR[check.outcome], MARK[check.outcome])} ${check.rule.padEnd(13)} ${shownCheck(check)}`,
      );
    return ok ? EXIT.ok : EXIT.checkFailed;
  },
};

const MARK = { pass: "✔", warn: "!", fail: "✖" };
const COLOUR: Record<KeySetCheck["outcome"], Colour> = { pass: "green", warn: "yellow", fail: "red" };

function shownCheck({ detail, keys }: KeySetCheck): string {
  return keys ? `${detail}; not so: ${keys.join(", ")}` : detail;
}
