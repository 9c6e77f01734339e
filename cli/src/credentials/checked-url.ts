// Refuses a URL that has more than one reading before it is stored.
import { createEvent, HookproofError, type Signer, signRequest } from "hookproof";
import { CliError, EXIT, usageError } from "../failure.js";
import { PLAIN_HTTP_HINT } from "./flags.js";
import { checkedPort, isHttpUrl, shownUrl, typedTarget } from "./typed-target.js";

/** A target as a profile keeps it: a URL, or the port of a local listener; refused where it is neither. */
export async function storableTarget(given: string, name: string): Promise<string> {
  if (/^:[0-9]{1,5}$/.test(given)) return checkedPort(given);
  return checkedUrl(given, name, ", or :4400 for a local listener");
}

/** A URL of any server, as a person types a target: `3000`, `:3000` and `localhost:3000/path` are on this machine. */
export async function typedUrl(given: string, name: string): Promise<string> {
  const typed = typedTarget(given, { isProfile: () => false, hasListener: () => false });
  const url = typed.startsWith(":") ? `http://localhost${typed}` : typed;
  return checkedUrl(url, name, ", or a port of this machine");
}

/** A URL of http or https with a host, which has one reading by the library's rules; refused where it is none. */
export async function checkedUrl(text: string, name: string, otherwise = ""): Promise<string> {
  if (!isHttpUrl(text))
    throw usageError(`${name} must be an http or https URL${otherwise}, not ${shownUrl(text)}.`);
  try {
    // Which names plain HTTP is for is looked at where something is sent.
    const url = text.replace(/^http:/i, "https:");
    await signRequest({ url, signer: OF_ANY_SCHEME, event: createEvent({}) });
  } catch (error) {
    throw usageError((error as Error).message.replace("The listener's URL", name));
  }
  return text;
}

/** Refuses plain HTTP to another machine, as every command that sends does, in the words of the option that named the URL. */
export async function requireTls(
  url: string,
  name: string,
  plainHttpHosts: readonly string[],
): Promise<void> {
  try {
    await signRequest({ url, signer: OF_ANY_SCHEME, event: createEvent({}), plainHttpHosts });
  } catch (error) {
    if (!(error instanceof HookproofError) || error.code !== "TLS_REQUIRED") throw error;
    const { host } = new URL(url);
    throw new CliError(
      EXIT.usage,
      error.code,
      `${name} is plain HTTP to ${host}, which is not on this machine.`,
      { hint: PLAIN_HTTP_HINT },
    );
  }
}

const OF_ANY_SCHEME: Signer = {
  scheme: {
    name: "any",
    contentType: "application/json",
    proof: "attempt",
    ownHeaders: [],
    classify: () => ({ outcome: "accepted", earlier: false }),
  },
  sign: () => ({ headers: [] }),
};
