// Explains a 401 where the listener is one of this machine.
import { type SignedRequest, secretFingerprint } from "hookproof";
import type { Context, Flag } from "../command.js";
import { nextStep } from "../config/next-step.js";
import { CONNECTION_FLAGS, REACH_FLAGS, SIGNING_FLAGS } from "../credentials/flags.js";
import type { Target } from "../credentials/target.js";
import { CliError } from "../failure.js";
import type { Io } from "../io.js";
import { keysFrom } from "../keys/keys.js";
import { findSession, type Session } from "../serve/sessions.js";
import { wordOf } from "../shell-word.js";
import { shownHeader } from "./reach.js";

/**
 * A 401 with its cause, where the listener is one of this machine whose secret is known, and with the exact command
 * that finds the cause where it is not. Other failures stay as they are.
 */
export async function explainRefusal(
  context: Context,
  target: Target,
  request: SignedRequest,
  failure: CliError,
): Promise<CliError> {
  if (failure.answer.status !== 401 || target.scheme !== undefined) return failure;
  const cause = await localCause(context, target, request);
  const { exit, code, message, answer, listenerAnswer, hint } = failure;
  const next = cause === undefined ? testCommand(context) : undefined;
  return new CliError(exit, code, message, { hint: cause ?? hint, next, listenerAnswer, answer });
}

/** What the local listener's own secret says about the request. */
async function localCause(
  { io }: Context,
  target: Target,
  { headers, body }: SignedRequest,
): Promise<string | undefined> {
  const session = findSession(io, target.url);
  if (session === undefined) return undefined;
  const where = `The listener on port ${session.port}`;
  if (session.method !== target.method)
    return `${where} takes ${session.method === "jwt" ? "tokens" : "signatures"}: use --method ${session.method}.`;
  if (session.method === "jwt") return tokenCause(io, where, session, { headers, body });
  if (session.secret === undefined || target.auth.method !== "hmac") return undefined;
  const { secret } = session;
  const request = { method: "POST", url: target.url, headers, body };
  const { diagnose } = await import("hookproof/diagnose");
  const [mistake] = (await diagnose({ request, listener: { auth: { method: "hmac", secret } } })).mistakes;
  const [own, used] = [secret, target.auth.secret].map((text) => secretFingerprint(text));
  if (mistake !== undefined && mistake.id !== "signature-unexplained")
    return `${where} says: ${mistake.message} ${mistake.fix}`;
  return own === used
    ? undefined
    : `${where} has the secret ${own}…, and this was signed with ${used}…: give both the same.`;
}

/** What the local listener's key set says about a token. */
async function tokenCause(
  io: Io,
  where: string,
  { url, jwks }: Session,
  { headers, body }: Pick<SignedRequest, "headers" | "body">,
): Promise<string | undefined> {
  const keySet = jwks === undefined ? undefined : await keysFrom(io, jwks).catch(() => undefined);
  const listener = { url, auth: { method: "jwt", keys: keySet?.keys } } as const;
  const { diagnose } = await import("hookproof/diagnose");
  const request = { method: "POST", url, headers, body };
  const { mistakes } = await diagnose({ request, listener, jwks: await keySet?.document() });
  const [mistake] = mistakes;
  return mistake && `${where} says: ${mistake.message} ${mistake.fix}`;
}

/** The command that asks the listener, with the flags of this one that have to do with it. */
function testCommand({ args }: Context): string {
  const known: Readonly<Record<string, Flag>> = { ...SIGNING_FLAGS, ...CONNECTION_FLAGS, ...REACH_FLAGS };
  const flags = Object.entries(known).flatMap(([name, { type, repeatable }]) => {
    if (!args.isGiven(name)) return [];
    if (type === "boolean") return args.flag(name) ? [`--${name}`] : [];
    const values = repeatable ? args.texts(name) : [args.text(name) ?? ""];
    return values.map((value) => `--${name} ${wordOf(name === "header" ? shownHeader(value) : value)}`);
  });
  const target = args.text("target");
  const words = ["hookproof test", ...(target === undefined ? [] : [wordOf(target)]), ...flags];
  return `${nextStep(args, words.join(" "))}      finds the listener's own mistake`;
}
