// The status and the verification of a stream at a transmitter of others.
import { createTransport } from "#transport";
import { isLoopbackHost } from "../core/address.js";
import { type Clock, checkedClock, systemClock } from "../core/clock.js";
import { HookproofError } from "../core/errors.js";
import { checkOptions } from "../core/options.js";
import { publicAddresses, type Transport } from "../http/transport.js";
import { type Asked, type Authorization, createAsk, transmitterUrl } from "./ask.js";

const ANSWER = { timeoutMs: 10_000, maxResponseBytes: 65_536 };
const STATUSES = ["enabled", "paused", "disabled"] as const;

/** A stream at a transmitter, as its recipient sees it (OpenID Shared Signals Framework 1.0, section 8.1). */
export interface SecurityEventStream {
  /** The status that the stream has, and why. */
  status(): Promise<{ readonly status: "enabled" | "paused" | "disabled"; readonly reason?: string }>;
  /**
   * Asks for another status; resolves to the one that the stream has then. The transmitter may refuse it, and keeps the
   * events of a stream that is `paused`.
   */
  setStatus(
    status: "enabled" | "paused" | "disabled",
    reason?: string,
  ): Promise<{ readonly status: "enabled" | "paused" | "disabled"; readonly reason?: string }>;
  /**
   * Asks for a verification event, which comes as every other event of the stream: `SSF.verification`, with this `state`.
   * A transmitter may answer too many requests with 429.
   */
  verify(state?: string): Promise<void>;
}

/**
 * A stream at a transmitter of others: its status, and verification events. Where its endpoints are says the
 * transmitter's `/.well-known/ssf-configuration`, which is fetched with the first call; one that is not at the issuer's own
 * origin must have a public address, unless both are on this machine. A call that fails rejects with a `HookproofError`.
 *
 * @throws {TypeError | HookproofError} for options that cannot work
 *
 * @example
 * ```ts
 * import { securityEventStream } from "hookproof/set/polling";
 *
 * const stream = securityEventStream({
 *   issuer: "https://idp.example.com/",
 *   streamId: "stream-1",
 *   authorization: "Bearer …",
 * });
 * const check = async () => {
 *   if ((await stream.status()).status === "paused") await stream.setStatus("enabled");
 *   await stream.verify("VGhpcyBpcyBhbiBleGFtcGxl");
 * };
 * ```
 */
export function securityEventStream(options: {
  /** The transmitter's issuer, as in `iss`. */
  issuer: string;
  /** The `stream_id` that it gave. */
  streamId: string;
  /** The header `Authorization`, or a function that gives it. */
  authorization: Authorization;
  /** An HTTP transport of your own instead of the library's. */
  transport?: Transport | undefined;
  /** The machine's clock by default. */
  clock?: Clock | undefined;
}): SecurityEventStream {
  const known = { issuer: 1, streamId: 1, authorization: 1, transport: "function", clock: ".now" } as const;
  checkOptions("securityEventStream", options, known);
  const { issuer, streamId, authorization, transport } = options;
  if (typeof issuer !== "string") throw new TypeError("issuer must be a text");
  if (typeof streamId !== "string" || streamId === "") throw new TypeError("streamId must be a text");
  const clock = checkedClock(options.clock ?? systemClock);
  const askIssuer = createAsk({ authorization, transport, clock });
  const elsewhere = transport ?? createTransport({ allowPrivateNetwork: false });
  const askElsewhere = createAsk({ authorization, transport: elsewhere, clock });
  const configurationUrl = wellKnown(issuer);
  const own = new URL(configurationUrl);
  let configuration: Promise<Readonly<Record<string, unknown>>> | undefined;

  async function endpoint(name: "status_endpoint" | "verification_endpoint"): Promise<string> {
    configuration ??= configured().catch((error) => {
      configuration = undefined;
      throw error;
    });
    const url = (await configuration)[name];
    if (typeof url !== "string") throw invalid(`The transmitter's configuration has no ${name}.`);
    return transmitterUrl(url);
  }

  /** The user has named the issuer's own origin; another one is the transmitter's choice, and never inside the network. */
  function ask(asked: Asked) {
    const { origin, hostname } = new URL(asked.url);
    if (origin === own.origin || (isLoopbackHost(own.hostname) && isLoopbackHost(hostname)))
      return askIssuer(asked);
    publicAddresses().checkHost(hostname);
    return askElsewhere(asked);
  }

  async function configured() {
    const found = (await ask({ ...ANSWER, method: "GET", url: configurationUrl })) ?? {};
    if (found.issuer !== issuer) throw invalid("The transmitter's configuration is of another issuer.");
    return found;
  }

  async function statusBy(asked: Pick<Asked, "method" | "url" | "body">) {
    const { status, reason, ...rest } = (await ask({ ...ANSWER, ...asked })) ?? {};
    const isOurs = rest.stream_id === undefined || rest.stream_id === streamId;
    const known = STATUSES.find((one) => one === status);
    if (!isOurs || known === undefined)
      throw invalid("The transmitter's answer has no status of this stream.");
    return { status: known, ...(typeof reason === "string" && { reason }) };
  }

  return {
    async status() {
      const url = new URL(await endpoint("status_endpoint"));
      url.searchParams.set("stream_id", streamId);
      return statusBy({ method: "GET", url: url.href });
    },
    async setStatus(status, reason) {
      if (!STATUSES.includes(status)) throw new TypeError("status must be enabled, paused or disabled");
      const body = { stream_id: streamId, status, ...(reason !== undefined && { reason }) };
      return statusBy({ method: "POST", url: await endpoint("status_endpoint"), body });
    },
    async verify(state) {
      const body = { stream_id: streamId, ...(state !== undefined && { state }) };
      await ask({ ...ANSWER, method: "POST", url: await endpoint("verification_endpoint"), body });
    },
  };
}

/** Where a transmitter's configuration is: the path of its issuer comes behind the well-known one (section 7.2). */
function wellKnown(issuer: string): string {
  const url = new URL(transmitterUrl(issuer));
  url.pathname = `/.well-known/ssf-configuration${url.pathname === "/" ? "" : url.pathname}`;
  return url.href;
}

function invalid(words: string): HookproofError {
  return new HookproofError("RESPONSE_INVALID", words);
}
