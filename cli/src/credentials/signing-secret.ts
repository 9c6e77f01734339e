// Says which secret signs by a profile, by its fingerprint, and where it is from.
import { secretFingerprint } from "hookproof";
import type { Context } from "../command.js";
import { CliError } from "../failure.js";
import { storedSecrets } from "./stored-secrets.js";

type Asking = Pick<Context, "args" | "io" | "out" | "config">;

/** The secrets that sign in the place of a stored one, and where they are from; none where their files cannot be read. */
export async function beforeStored(
  context: Asking,
): Promise<{ secrets: string[]; from: string } | undefined> {
  const { io, config } = context;
  if (config.text("method") === "jwt") return undefined;
  const files = config.find("secretFiles");
  if (!io.env.HOOKPROOF_SECRET && files === undefined) return undefined;
  const from = io.env.HOOKPROOF_SECRET ? "HOOKPROOF_SECRET" : (files?.origin ?? "secretFiles");
  try {
    const { findSecrets } = await import("./secrets.js");
    const found = await findSecrets({ ...context, out: { ...context.out, warn() {} } }); // whoever signs warns
    return { secrets: (found?.secrets ?? []).map(secretFingerprint), from };
  } catch (error) {
    if (error instanceof CliError) return { secrets: [], from };
    throw error;
  }
}

/** The secrets that sign, wherever they are from; nothing where a key does, or where there is none. */
export async function signingSecret(
  context: Asking,
): Promise<{ secrets: string[]; from: string } | undefined> {
  const { args, io, config } = context;
  const first = await beforeStored(context);
  if (first || config.text("method") === "jwt") return first;
  const stored = storedSecrets(io, args, config.owner);
  return stored && { secrets: stored.secrets.map(secretFingerprint), from: "stored" };
}

/** Fingerprints as a line shows them; nothing is known of a secret whose file cannot be read. */
export function shownFingerprints(fingerprints: readonly string[]): string {
  return fingerprints.map((text) => `${text}…`).join(", ") || "(cannot be read)";
}
