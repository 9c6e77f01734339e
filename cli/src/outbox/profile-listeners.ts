import type { OutboxListenerOptions } from "hookproof/outbox";
import { agentFor } from "../agent.js";
import type { Context } from "../command.js";
import { knownProfiles } from "../config/config.js";
import { CliError, EXIT } from "../failure.js";
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
