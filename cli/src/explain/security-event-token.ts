// What is wrong with a security event token, and whether it verifies.
import type { Mistake } from "hookproof/diagnose";
import type { KeyResolver } from "hookproof/jwks";
import { createReceiver } from "hookproof/receiver";
import { securityEventVerifier } from "hookproof/set";
import type { Io } from "../io.js";
import { keysFrom } from "../keys/keys.js";
import type { Output } from "../output.js";
import { nameOfEventType } from "../serve/security-event-types.js";

type Members = Readonly<Record<string, unknown>>;

/** What a token is compared with. */
interface Expected {
  readonly issuer: string | undefined;
  readonly audience: string | undefined;
}

interface Findings {
  readonly ok: boolean;
  readonly verified: boolean;
  readonly events: readonly { readonly uri: string; readonly name?: string; readonly payload: unknown }[];
  readonly mistakes: readonly Pick<Mistake, "id" | "message" | "fix">[];
  /** What was not checked, as no expected value was given. */
  readonly unchecked?: readonly ("issuer" | "audience")[];
  readonly refusal?: { readonly code: string; readonly detail: string };
}

/** Takes a token's events apart, looks for mistakes, and verifies it where a key set is given. */
export async function findingsOf(
  io: Io,
  token: string,
  claims: Members,
  { jwks, ...expected }: Expected & { readonly jwks: string | undefined },
): Promise<Findings> {
  const keySet = jwks === undefined ? undefined : await keysFrom(io, jwks);
  const keys = keySet?.keys;
  const { diagnose } = await import("hookproof/diagnose");
  const { mistakes: found } = await diagnose({
    scheme: "security-event-token",
    request: { body: token },
    keys,
    jwks: await keySet?.document(),
    ...expected,
  });
  // Somebody may look at a token long after it came.
  const mistakes = found.filter(({ id }) => id !== "iat-too-old");
  const refusal = keys && (await refusalOf(token, claims, keys, expected));
  const verified = keys !== undefined && refusal === undefined;
  // Without an expected value a claim can only be compared with itself, which proves nothing.
  const unchecked = verified ? (["issuer", "audience"] as const).filter((name) => !expected[name]) : [];
  return {
    ok: mistakes.length === 0 && refusal === undefined,
    verified,
    events: eventsOf(claims),
    mistakes,
    ...(unchecked.length > 0 ? { unchecked } : {}),
    ...(refusal ? { refusal } : {}),
  };
}

/** Shows what was found, for people. */
export function showFindings(
  out: Output,
  header: Members,
  { mistakes, verified, unchecked, refusal }: Findings,
): void {
  for (const { message, fix } of mistakes) {
    out.line(`${out.paint("red", "✖")} ${message}`);
    out.line(`  fix      ${fix}`);
  }
  if (verified) {
    out.line(`${out.paint("green", "✔")} signed with the key ${JSON.stringify(header.kid)}`);
    for (const name of unchecked ?? [])
      out.warn(
        `The ${name} was not checked: any is taken. Give the one that must stand there with --${name} <text>.`,
      );
  } else if (refusal)
    out.line(`${out.paint("red", `error[${refusal.code}]`)}  NOT VERIFIED: ${refusal.detail}`);
  else
    out.warn(
      "NOT VERIFIED: anyone can write such a token. Give the issuer's key set with --jwks <url|file>.",
    );
}

/** Why the key set, or what is expected, does not let the token pass; its age is left out of account. */
async function refusalOf(
  token: string,
  claims: Members,
  keys: KeyResolver,
  { issuer, audience }: Expected,
): Promise<Findings["refusal"]> {
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

function eventsOf({ events }: Members): Findings["events"] {
  if (typeof events !== "object" || events === null || Array.isArray(events)) return [];
  return Object.entries(events).map(([uri, payload]) => {
    const name = nameOfEventType(uri);
    return { uri, ...(name === undefined ? {} : { name }), payload };
  });
}
