// Delivers to the listeners of the profiles.
import { existsSync } from "node:fs";
import type { ConnectionAgent } from "hookproof";
import type { OutboxListenerOptions } from "hookproof/outbox";
import type { Context } from "../command.js";
import { type Config, knownProfiles } from "../config/config.js";
import { isOfFolder } from "../config/folder-file.js";
import { nextStep } from "../config/next-step.js";
import { SETTINGS } from "../config/settings.js";
import { REACH_FLAGS } from "../credentials/flags.js";
import { resolveTarget } from "../credentials/target.js";
import { CliError, EXIT, usageError } from "../failure.js";
import { type CredentialReference, describeCredential } from "../history/history-record.js";
import { agentFor } from "../send/agent.js";
import { type Reach, reachOf, requireOwnHeaders, withHeaders } from "../send/reach.js";

/** The listeners a worker delivers to: each profile that has a target, under the profile's name. */
export async function profileListeners(context: Context): Promise<Record<string, OutboxListenerOptions>> {
  const { args, config, global } = context;
  const wanted = args.texts("listener");
  for (const name of wanted) config.withProfile(name).requireKnownProfile();
  const withTarget =
    wanted.length > 0
      ? wanted
      : knownProfiles(config.files).filter((name) => config.withProfile(name).text("target") !== undefined);
  const names = ownListeners(config, withTarget, wanted.length > 0);
  if (names.length === 0)
    throw new CliError(EXIT.setup, "LISTENERS_MISSING", "No profile has a target to deliver to.", {
      hint: `Under the name that events are enqueued for: ${nextStep(args, "hookproof profile add offboarding --target <url>")}`,
    });
  if (names.length > 1) refuseForOne(context, names);
  const listeners: Record<string, OutboxListenerOptions> = {};
  for (const name of names) {
    const text = (flag: string) => (flag === "target" ? name : args.text(flag));
    const target = await resolveTarget({ ...context, args: { ...args, text } });
    const { url, signer, credential } = target;
    if (isOfFolder(config, "outbox")) requireOwnProof(config.withProfile(name), credential);
    const reach = await reachOf(context, target);
    requireOwnHeaders(reach, url, signer);
    const agent = await agentFor(url, reach);
    listeners[name] = {
      url,
      signer,
      ...(await connected(agent, reach)),
      plainHttpHosts: reach.plainHttpHosts,
      attemptTimeoutMs: global.timeoutMs,
      concurrency: args.number("concurrency"),
    };
  }
  return listeners;
}

/** With headers of the user's own the transport adds them, so that an answer that repeats them shows them to nobody. */
async function connected(
  agent: ConnectionAgent | undefined,
  reach: Reach,
): Promise<Pick<OutboxListenerOptions, "agent" | "transport">> {
  if (reach.headers.length === 0) return agent ? { agent } : {};
  const { nodeTransport } = await import("hookproof/node");
  return { transport: withHeaders(nodeTransport({ agent }), reach) };
}

/**
 * The events of an outbox go to listeners of the file that names the outbox, and to no other file's: otherwise the
 * file of a cloned folder could have its events signed with this user's secrets, or receive this user's events.
 * If the user names the outbox, every profile may be a listener, except one that two files have and no flag chose.
 */
function ownListeners(config: Config, names: readonly string[], areNamed: boolean): readonly string[] {
  if (config.isProjectNamed) return names;
  const outboxFile = config.find("outbox")?.file;
  const fileOf = (name: string) => config.withProfile(name).find("target")?.file;
  const isOwn = (name: string) =>
    outboxFile === undefined
      ? areNamed || config.files.filter(({ profiles }) => Object.hasOwn(profiles, name)).length < 2
      : fileOf(name) === outboxFile;
  const others = names.filter((name) => !isOwn(name));
  const isRefused =
    others.length > 0 && (areNamed || outboxFile === undefined || others.length === names.length);
  if (!isRefused) return names.filter(isOwn);
  const listed = others.join(", ");
  throw new CliError(
    EXIT.setup,
    "OUTBOX_LISTENER_REFUSED",
    outboxFile === undefined
      ? `Two configuration files have a profile ${listed}: it is not clear which listener gets the events.`
      : `${outboxFile} names the outbox, and another file names the target of ${listed}.`,
    {
      hint:
        outboxFile === undefined
          ? `Choose it with --listener ${others[0]}, or name the file with --config.`
          : "If you trust that outbox with these listeners, name it yourself: --outbox <file|url>",
    },
  );
}

/** Events of a folder's outbox are signed only with a key or secret of the same file, or of a local listener. */
function requireOwnProof(config: Config, credential: CredentialReference): void {
  const isOwn =
    credential.kind === "session" ||
    credential.kind === "profile" ||
    (credential.kind === "secret-files" && isOfFolder(config, "secretFiles")) ||
    (credential.kind === "key" &&
      (isOfFolder(config, "store") || (isOfFolder(config, "key") && existsSync(credential.key))));
  if (isOwn) return;
  throw new CliError(
    EXIT.setup,
    "OUTBOX_LISTENER_REFUSED",
    `${config.projectPath} names the outbox, and the ${describeCredential(credential)} does not come from that file.`,
    { hint: "If you trust what that outbox holds, name it yourself: --outbox <file|url>" },
  );
}

/** Refuses variables that are for one target: with several listeners, each would get the same secret or URL. */
function refuseForOne({ args, io: { env } }: Pick<Context, "args" | "io">, names: readonly string[]): void {
  const flag = Object.keys(REACH_FLAGS).find((name) => args.isGiven(name));
  if (flag !== undefined)
    throw usageError(
      `--${flag} is for one listener, but this worker delivers to ${names.join(", ")}.`,
      "Choose one with --listener <name>; or give each profile its own headerFiles, cert and keyFile.",
    );
  const one = ["HOOKPROOF_SECRET", SETTINGS.secretFiles.env, SETTINGS.target.env].find((name) => env[name]);
  if (one !== undefined)
    throw usageError(
      `${one} is for one target, but this worker delivers to ${names.join(", ")}.`,
      `Choose one with --listener <name>. Or unset it, and store a secret for each: ${nextStep(args, "hookproof secret set --profile <name>")}`,
    );
}
