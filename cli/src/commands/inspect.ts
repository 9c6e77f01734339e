// The command that takes a token apart, names its kind and says what is wrong with it.
import { existsSync } from "node:fs";
import type { Command, Context } from "../command.js";
import { EXIT, usageError } from "../failure.js";
import { readText } from "../files/files.js";
import { countOf } from "../output.js";

type Members = Readonly<Record<string, unknown>>;

/** The kinds of tokens, and how each is told from the others. */
const KINDS = {
  webhook: "a webhook's token: htm and htb_s256 bind it to one request",
  "security-event": "a security event token",
  other:
    "neither a webhook's token, which has htm and htb_s256, nor a security event token, which has events",
} as const;

const OF_EVENTS = ["jwks", "issuer", "audience"];

export const inspect: Command = {
  name: "inspect",
  details:
    "A webhook's token is only decoded. A security event token is searched for mistakes, and verified where a key set is given.",
  positionals: [
    {
      name: "token",
      describe: "a file with a token or with a captured request, or - for standard input, the default",
      required: false,
      completes: "file",
    },
  ],
  flags: {
    jwks: {
      type: "string",
      value: "<url|file>",
      describe: "the issuer's key set, to verify a security event token",
    },
    issuer: { type: "string", value: "<text>", describe: "what iss of a security event token must be" },
    audience: {
      type: "string",
      value: "<text>",
      describe: "what aud of a security event token must be, or have in its list",
    },
  },
  examples: [
    ["pbpaste | hookproof inspect -", "a token from the clipboard"],
    [
      "hookproof inspect token.txt --jwks https://idp.example.com/jwks.json --issuer https://idp.example.com/",
      "a security event token, with its signature and its issuer checked",
    ],
  ],
  exits: [
    [3, "the file or the key set cannot be read"],
    [7, "something is wrong with the token"],
  ],
  async run(context) {
    const { args, io, out } = context;
    const token = await tokenOf(context);
    const segments = token.split(".");
    if (segments.length !== 3)
      throw usageError(`A token has three segments; this text has ${segments.length}.`);
    const [header, claims] = [decoded(segments[0], "header"), decoded(segments[1], "claims")];
    const kind = kindOf(header, claims);
    const flag = OF_EVENTS.find((name) => args.isGiven(name));
    if (kind !== "security-event" && flag !== undefined)
      throw usageError(
        `--${flag} is for a security event token, and this is ${KINDS[kind]}.`,
        "hookproof jwks check <url> --token <file> checks the signature of any token.",
      );
    const events = kind === "security-event" ? await import("../explain/security-event-token.js") : undefined;
    const found = await events?.findingsOf(io, token, claims, {
      jwks: args.text("jwks"),
      issuer: args.text("issuer"),
      audience: args.text("audience"),
    });
    const signatureBytes = Buffer.from(segments[2] ?? "", "base64url").length;
    out.document({
      type: "inspect",
      ok: true,
      kind,
      verified: false,
      header,
      claims,
      signatureBytes,
      ...found,
    });
    out.line(`kind       ${KINDS[kind]}`);
    out.line(`header     ${out.code(JSON.stringify(header))}`);
    out.line("claims");
    for (const [name, value] of Object.entries(claims))
      if (name !== "events" || !found || found.events.length === 0)
        out.line(`  ${name.padEnd(9)} ${out.code(JSON.stringify(value))}${timeOf(name, value)}`);
    if (found && found.events.length > 0) {
      out.line("events");
      for (const { uri, name, payload } of found.events) {
        out.line(`  ${name ?? uri}  ${out.code(JSON.stringify(payload))}`);
        if (name !== undefined) out.line(`    ${uri}`);
      }
    }
    out.line(`signature  ${countOf(signatureBytes, "byte")}`);
    if (!events || !found) {
      out.warn(
        "NOT VERIFIED: anyone can write such a token. To check it: hookproof verify, or hookproof jwks check --token",
      );
      return EXIT.ok;
    }
    events.showFindings(out, header, found);
    return found.ok ? EXIT.ok : EXIT.checkFailed;
  },
};

/** Which kind of token it is, by what makes it one; a security event token also by its events, if typ is wrong. */
function kindOf({ typ }: Members, { events, htm, htb_s256 }: Members): keyof typeof KINDS {
  if (typeof typ === "string" && /^(?:application\/)?secevent\+jwt$/i.test(typ)) return "security-event";
  if (htm !== undefined || htb_s256 !== undefined) return "webhook";
  return events !== undefined ? "security-event" : "other";
}

/** The token of a file or of standard input, which may also be a request that brings one in its body or its header. */
async function tokenOf({ args, io }: Context): Promise<string> {
  const given = args.text("token");
  if (given === undefined && io.stdin.isTTY)
    throw usageError("Give a file with the token, or - and the token on standard input.");
  if (given !== undefined && !existsSync(given) && /^(?:Bearer\s+)?eyJ[\w-]*\.[\w-]+\.[\w-]*$/i.test(given))
    throw usageError(
      "This is a token, and not a file: other users of the machine can read a command line.",
      "Give the token on standard input: hookproof inspect -",
    );
  const text = await readText(io, given ?? "-");
  if (!/^[A-Z]+ \S+(?: HTTP\/[0-9.]+)?\r?\n/.test(text)) return bare(text);
  const { parseCaptured } = await import("../capture/captured-request.js");
  const { headers, body } = parseCaptured(Buffer.from(text, "utf8"));
  const inBody = Buffer.from(body).toString("utf8").trim();
  // A security event token comes in the body, next to a bearer token that says who delivers it.
  const isToken = /^eyJ[\w-]*\.[\w-]+\.[\w-]*$/.test(inBody);
  const bearer = headers.find(([name]) => name.toLowerCase() === "authorization")?.[1];
  return isToken || bearer === undefined ? inBody : bare(bearer);
}

function bare(text: string): string {
  return text.trim().replace(/^(?:Authorization:\s*)?Bearer\s+/i, "");
}

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
function timeOf(name: string, value: unknown): string {
  const isTime =
    ["exp", "iat", "nbf", "toe"].includes(name) && typeof value === "number" && Math.abs(value) < 8e12;
  return isTime ? `  ${new Date(value * 1000).toISOString().replace(".000Z", "Z")}` : "";
}
