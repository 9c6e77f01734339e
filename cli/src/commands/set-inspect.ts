// The command that takes a security event token apart and says what is wrong with it.
import { existsSync } from "node:fs";
import type { KeyResolver } from "hookproof/jwks";
import { createReceiver } from "hookproof/receiver";
import { securityEventVerifier } from "hookproof/set";
import { parseCaptured } from "../capture/captured-request.js";
import type { Command, Context } from "../command.js";
import { EXIT, usageError } from "../failure.js";
import { readText } from "../files.js";
import { keysFrom } from "../keys/keys.js";
import { countOf } from "../output.js";
import { nameOfEventType } from "../serve/security-event-types.js";
import { decoded, timeOf } from "./jwt-inspect.js";

export const setInspect: Command = {
  name: "set inspect",
  details: "It is verified only where a key set is given.",
  positionals: [
    {
      name: "token",
      describe: "a token, a file with one or with a captured request, or - for standard input, the default",
      required: false,
      completes: "file",
    },
  ],
  flags: {
    jwks: { type: "string", value: "<url|file>", describe: "the issuer's key set, to verify the token" },
    issuer: { type: "string", value: "<text>", describe: "what iss must be" },
    audience: { type: "string", value: "<text>", describe: "what aud must be, or have in its list" },
  },
  examples: [
    ["hookproof set inspect token.txt", "what a token says, and what is wrong with it"],
    [
      "hookproof set inspect token.txt --jwks https://idp.example.com/jwks.json --issuer https://idp.example.com/",
      "the same, with its signature and its issuer checked",
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
    const jwks = args.text("jwks");
    const keySet = jwks === undefined ? undefined : await keysFrom(io, jwks);
    const keys = keySet?.keys;
    const expected = { issuer: args.text("issuer"), audience: args.text("audience") };
    const { diagnose } = await import("hookproof/diagnose");
    const request = { body: token };
    const { mistakes: found } = await diagnose({
      scheme: "security-event-token",
      request,
      keys,
      jwks: await keySet?.document(),
      ...expected,
    });
    // Somebody may look at a token long after it came.
    const mistakes = found.filter(({ id }) => id !== "iat-too-old");
    const refusal = keys && (await refusalOf(token, claims, keys, expected));
    const verified = keys !== undefined && refusal === undefined;
    const ok = mistakes.length === 0 && refusal === undefined;
    const events = eventsOf(claims);
    // Without an expected value a claim can only be compared with itself, which proves nothing.
    const unchecked = verified ? (["issuer", "audience"] as const).filter((name) => !expected[name]) : [];
    out.document({
      type: "set",
      ok,
      verified,
      header,
      claims,
      events,
      mistakes,
      ...(unchecked.length > 0 ? { unchecked } : {}),
      ...(refusal ? { refusal } : {}),
    });

    out.line(`header     ${out.code(JSON.stringify(header))}`);
    out.line("claims");
    for (const [name, value] of Object.entries(claims))
      if (name !== "events" || events.length === 0)
        out.line(`  ${name.padEnd(9)} ${out.code(JSON.stringify(value))}${timeOf(name, value)}`);
    if (events.length > 0) out.line("events");
    for (const { uri, name, payload } of events) {
      out.line(`  ${name ?? uri}  ${out.code(JSON.stringify(payload))}`);
      if (name !== undefined) out.line(`    ${uri}`);
    }
    out.line(`signature  ${countOf(Buffer.from(segments[2] ?? "", "base64url").length, "byte")}`);
    for (const { message, fix } of mistakes) {
      out.line(`${out.paint("red", "✖")} ${message}`);
      out.line(`  fix      ${fix}`);
    }
    if (verified) {
      out.line(`${out.paint("green", "✔")} signed with the key ${JSON.stringify(header.kid)}`);
      for (const name of unchecked)
        out.warn(
          `The ${name} was not checked: any is taken. Give the one that must stand there with --${name} <text>.`,
        );
    } else if (refusal)
      out.line(`${out.paint("red", `error[${refusal.code}]`)}  NOT VERIFIED: ${refusal.detail}`);
    else
      out.warn(
        "NOT VERIFIED: anybody can write such a token. Give the issuer's key set with --jwks <url|file>.",
      );
    return ok ? EXIT.ok : EXIT.checkFailed;
  },
};

/** The token itself, or that of a file or of standard input, which may also be a request that brings one. */
async function tokenOf({ args, io }: Context): Promise<string> {
  const given = args.text("token");
  if (given === undefined && io.stdin.isTTY)
    throw usageError("Give a token, a file with one, or - and the token on standard input.");
  const isToken = given !== undefined && !existsSync(given) && /^[\w-]+\.[\w-]+\.[\w-]*$/.test(given);
  if (isToken) return given;
  const text = await readText(io, given ?? "-");
  const body = /^[A-Z]+ \S+(?: HTTP\/[0-9.]+)?\r?\n/.test(text)
    ? Buffer.from(parseCaptured(Buffer.from(text, "utf8")).body).toString("utf8")
    : text;
  return body.trim();
}

/** Why the key set, or what is expected, does not let the token pass; its age is left out of account. */
async function refusalOf(
  token: string,
  claims: Readonly<Record<string, unknown>>,
  keys: KeyResolver,
  { issuer, audience }: { issuer: string | undefined; audience: string | undefined },
): Promise<{ code: string; detail: string } | undefined> {
  const own = (value: unknown) => (typeof value === "string" && value !== "" ? value : "none");
  const verifier = securityEventVerifier({
    keys,
    issuer: issuer ?? own(claims.iss),
    audience: audience ?? own([claims.aud].flat()[0]),
  });
  const iat = typeof claims.iat === "number" ? claims.iat * 1000 : Date.now();
  const verdict = await createReceiver({ verifier, clock: { now: () => iat } }).verify({
    method: "POST",
    url: "/",
    headers: { "Content-Type": verifier.scheme.contentType },
    body: token,
  });
  return verdict.ok ? undefined : { code: verdict.code, detail: verdict.detail };
}

interface InspectedEvent {
  readonly uri: string;
  readonly name?: string;
  readonly payload: unknown;
}

function eventsOf({ events }: Readonly<Record<string, unknown>>): InspectedEvent[] {
  if (typeof events !== "object" || events === null || Array.isArray(events)) return [];
  return Object.entries(events).map(([uri, payload]) => {
    const name = nameOfEventType(uri);
    return { uri, ...(name === undefined ? {} : { name }), payload };
  });
}
