// The command that prints a signed request without sending it.
import { signRequest } from "hookproof";
import { curlCommand } from "../capture/curl.js";
import type { Command, Context } from "../command.js";
import { REACH_FLAGS, SIGNING_FLAGS, TARGET_POSITIONAL } from "../credentials/flags.js";
import { resolveCredential, resolveTarget, type Target } from "../credentials/target.js";
import { EXIT, usageError } from "../failure.js";
import { configuredScheme, SCHEME_EXAMPLES, SCHEME_FLAGS, schemeOf } from "../schemes/chosen-scheme.js";
import { EVENT_FLAGS, eventOf, payloadOf, requiredData } from "../send/payload.js";
import type { Reached } from "../send/reach.js";
import { signingClock } from "../times.js";

export const sign: Command = {
  name: "sign",
  details: "HMAC needs no target.",
  positionals: [TARGET_POSITIONAL],
  flags: {
    ...EVENT_FLAGS,
    curl: { type: "boolean", describe: "print a curl command; needs a target" },
    ...SCHEME_FLAGS,
    ...SIGNING_FLAGS,
    "plain-http": REACH_FLAGS["plain-http"],
  },
  examples: [
    [`hookproof sign --secret-file secret.txt --data '{"a":1}'`, "the headers for a body"],
    SCHEME_EXAMPLES.sign,
    [`hookproof sign :4400 --data '{"a":1}' --curl | bash`, "the same as a request that curl sends"],
  ],
  exits: [[3, "secret or key missing"]],
  async run(context) {
    const { args, io, out } = context;
    const data = requiredData(context, "hookproof sign --secret-file secret.txt --data '{\"a\":1}'");
    const { config } = context;
    const hasTarget = args.text("target") !== undefined || config.text("target") !== undefined;
    if (!hasTarget && args.flag("curl"))
      throw usageError("--curl needs a target.", "hookproof sign :4400 --data '{\"a\":1}' --curl");
    const target = await signingTarget(context);
    const named = (target.config ?? config).texts("plainHttp");
    // Seldom given, and all that reaches a listener would be loaded for it.
    const plainHttpHosts =
      named.length === 0 ? named : (await import("../send/reach.js")).checkedPlainHttp(named);

    const event = eventOf(context, await payloadOf(io, data), data);
    const timestamp = Math.floor(signingClock(args.text("timestamp")).now() / 1000);
    // An HMAC signature does not cover the URL, so any listener's URL gives the same one.
    const request = await signRequest({
      url: target.url ?? "https://localhost/api/v1/webhooks/incoming/any",
      signer: target.signer,
      event,
      timestamp,
      plainHttpHosts,
    });
    const { headers, eventId, body } = request;
    for (const warning of target.signer.warnings ?? []) out.warn(warning);
    out.note(`signed with ${target.proof}`);
    out.document({
      type: "sign",
      ok: true,
      url: target.url ?? null,
      headers,
      eventId,
      timestamp,
      proof: target.proof,
      bodyBase64: Buffer.from(body).toString("base64"),
      canonical:
        target.method === "hmac" && target.scheme === undefined
          ? `${timestamp}.${eventId}.${Buffer.from(body).toString("utf8")}`
          : null,
    });
    if (args.flag("curl")) out.raw(curlCommand(request));
    else for (const [name, value] of Object.entries(headers)) out.line(`${name}: ${value}`);
    if (!args.flag("curl") && !Buffer.from(body).equals(event.body)) {
      out.line();
      out.line(Buffer.from(body).toString("utf8"));
    }
    return EXIT.ok;
  },
};

/** A target is needed for a whole request (--curl), and for a proof that is bound to its listener's URL. */
async function signingTarget(context: Context): Promise<Omit<Target, keyof Reached> & Partial<Reached>> {
  if (context.args.text("target") !== undefined || context.args.flag("curl")) return resolveTarget(context);
  const scheme = schemeOf(context.args, configuredScheme(context.config));
  if (scheme?.bindsUrl) return resolveTarget(context);
  const credential = await resolveCredential(context, { scheme });
  const isForUrl = scheme === undefined && credential.method === "jwt";
  return isForUrl ? resolveTarget(context) : credential;
}
