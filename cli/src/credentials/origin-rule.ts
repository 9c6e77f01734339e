// The rule of which secret may sign for which origin.
import { secretFingerprint } from "hookproof";
import type { Args } from "../command.js";
import { nextStep } from "../config/next-step.js";
import { CliError, EXIT, usageError } from "../failure.js";
import type { CredentialReference } from "../history/history-record.js";
import { wordOf } from "../shell-word.js";

/** Where the target's URL came from. The user chose it, except in a `file` (of the current folder) and an `export`. */
export type TargetSource = "typed" | "environment" | "file" | "history" | "export";

/**
 * What a secret may sign for: any target (`typed`: it was named on this command line), one origin, no target yet
 * (`none`: stored without one), or the target that the user gives with it (`environment`).
 */
export type Binding =
  | { readonly kind: "typed" }
  | { readonly kind: "origin"; readonly origin: string }
  | { readonly kind: "none" }
  | { readonly kind: "environment" };

/** Signing secrets, where they came from, and whom they may sign for. */
export interface FoundSecrets {
  readonly secrets: readonly string[];
  readonly credential: CredentialReference;
  readonly binding: Binding;
}

/** The fingerprints of the secrets, which tell them apart without showing them. */
export function fingerprintsOf({ secrets }: Pick<FoundSecrets, "secrets">): string[] {
  return secrets.map(secretFingerprint);
}

/** The scheme, host and port of a target; `:4400` is this machine's loopback address. Undefined if it is not a URL. */
export function originOf(target: string | undefined): string | undefined {
  if (target === undefined) return undefined;
  const port = /^:([0-9]{1,5})$/.exec(target)?.[1];
  const url = port === undefined ? target : `http://127.0.0.1:${port}`;
  return /^https?:\/\//i.test(url) && URL.canParse(url) ? new URL(url).origin : undefined;
}

/** Whether an origin is on this machine. */
export function isLoopback(origin: string): boolean {
  return /^https?:\/\/(?:localhost|127\.[0-9.]+|\[::1\])(?::|$)/.test(origin);
}

/** An origin that a flag or variable gives, or a refusal. */
export function checkedOrigin(text: string, where: string): string {
  const origin = originOf(text);
  if (origin !== undefined) return origin;
  throw usageError(
    `${where} must be an origin such as https://tenant.example.com, not ${JSON.stringify(text)}.`,
  );
}

/** Refuses to sign for a target with a secret that belongs to another one. */
export function requireOwnOrigin(
  args: Args,
  found: FoundSecrets,
  target: { readonly url: string; readonly source: TargetSource },
): void {
  const { binding } = found;
  const origin = originOf(target.url);
  const allowed = args.texts("allow-origin").map((text) => checkedOrigin(text, "--allow-origin"));
  // A target that is not a URL is refused where the connection is made.
  if (origin === undefined || allowed.includes(origin) || binding.kind === "typed") return;
  if (binding.kind === "origin" && binding.origin === origin) return;
  if (binding.kind === "environment" && (target.source === "typed" || target.source === "environment"))
    return;
  const { reason, hint } = refusal(args, found, origin);
  throw new CliError(EXIT.setup, "SECRET_OTHER_ORIGIN", reason, {
    hint: `${hint} --allow-origin ${wordOf(origin)}`,
    answer: { origin, fingerprints: fingerprintsOf(found) },
  });
}

function refusal(args: Args, found: FoundSecrets, origin: string): { reason: string; hint: string } {
  const { binding, credential } = found;
  const secret = `The secret ${fingerprintsOf(found)
    .map((text) => `${text}…`)
    .join(", ")}`;
  if (binding.kind === "origin")
    return {
      reason: `${secret}${ownerOf(credential)} signs for ${binding.origin}, not for ${origin}.`,
      hint: "Only if that listener has the same secret:",
    };
  if (binding.kind === "environment")
    return {
      reason: `HOOKPROOF_SECRET_ORIGIN does not say what the secret ${fingerprintsOf(found).join("…, ")}… signs for, and the target ${origin} was not given on the command line.`,
      hint: `Give the target on the command line, or set HOOKPROOF_SECRET_ORIGIN=${wordOf(origin)}, or:`,
    };
  const profile = credential.kind === "profile" ? credential.profile : "default";
  return {
    reason: `${secret}${ownerOf(credential)} was stored without a target, so it does not sign for ${origin}.`,
    hint: `Set its target with: ${nextStep(args, `hookproof profile add ${profile} --target <url>`)}. Or, this time only:`,
  };
}

function ownerOf(credential: FoundSecrets["credential"]): string {
  if (credential.kind === "profile") return ` (profile ${credential.profile})`;
  return credential.kind === "session" ? ` (local listener on port ${credential.port})` : "";
}
