import type { OutboxListenerOptions } from "hookproof/outbox";
import { agentFor } from "../agent.js";
import type { Context } from "../command.js";
import { knownProfiles } from "../config/config.js";
import { SETTINGS } from "../config/settings.js";
import { CliError, EXIT, usageError } from "../failure.js";
import type { Io } from "../io.js";
import { resolveTarget } from "../target.js";

/** The listeners a worker delivers to: each profile that has a target, under the profile's name. */
export async function profileListeners(context: Context): Promise<Record<string, OutboxListenerOptions>> {
  const { args, config, global } = context;
  const wanted = args.texts("listener");
  for (const name of wanted) config.withProfile(name).requireKnownProfile();
  const names = (wanted.length > 0 ? wanted : knownProfiles(config.files)).filter(
    (name) => wanted.length > 0 || config.withProfile(name).text("target") !== undefined,
  );
  if (names.length === 0)
    throw new CliError(EXIT.setup, "LISTENERS_MISSING", "No profile has a target to deliver to.", {
      hint: "hookproof profile add offboarding --target <url>, under the name that events are enqueued for",
    });
  if (names.length > 1) refuseForOne(context.io, names);
  const listeners: Record<string, OutboxListenerOptions> = {};
  for (const name of names) {
    const text = (flag: string) => (flag === "target" ? name : args.text(flag));
    const { url, signer } = await resolveTarget({ ...context, args: { ...args, text } });
    const agent = await agentFor(url, {
      ca: config.withProfile(name).text("ca"),
      insecure: args.flag("insecure"),
    });
    listeners[name] = {
      url,
      signer,
      ...(agent ? { agent } : {}),
      attemptTimeoutMs: global.timeoutMs,
      concurrency: args.number("concurrency"),
    };
  }
  return listeners;
}

/** Variables that stand for one target: with several, each would be given another one's secret or URL. */
function refuseForOne({ env }: Io, names: readonly string[]): void {
  const one = ["HOOKPROOF_SECRET", SETTINGS.secretFiles.env, SETTINGS.target.env].find((name) => env[name]);
  if (one !== undefined)
    throw usageError(
      `${one} is for one target, and this worker delivers to ${names.join(", ")}.`,
      "Unset it, and store a secret for each: hookproof secret set --profile <name>. Or choose one with --listener <name>.",
    );
}
