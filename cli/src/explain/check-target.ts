// What `doctor` checks of a target without sending an event.
import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { TLSSocket } from "node:tls";
import { countOf } from "../output.js";
import { agentFor } from "../send/agent.js";
import type { Reach } from "../send/reach.js";
import type { Finding } from "./check-machine.js";

/** Half of the service's window of 5 minutes: beyond it a slow request may be refused. */
const SKEW_WARN_MS = 150_000;
const SKEW_FAIL_MS = 300_000;
const EXPIRES_SOON_DAYS = 14;

/** More informational answers (1xx) than any listener sends. */
const MAX_AHEAD = 20;

/** The most bytes before the headers of an answer; Node skips line ends there without an event. */
const MAX_BYTES_AHEAD = 65_536;

/** What the answer of a listener shows. */
interface Seen {
  readonly status: number;
  readonly date: string | undefined;
  readonly certificate: Finding | undefined;
}

/** A proxy answered instead of the listener. */
class ProxyAnswer extends Error {}

/** Connects to a target without sending an event: connection, certificate, and the listener's clock. */
export async function checkTarget(
  url: string,
  options: Reach & { readonly timeoutMs: number },
): Promise<Finding[]> {
  const started = Date.now();
  try {
    const { status, date, certificate } = await head(url, options);
    const ended = Date.now();
    return [
      {
        id: "target",
        state: "ok",
        message: `${new URL(url).host} answered ${status} in ${ended - started} ms`,
      },
      ...(certificate ? [certificate] : []),
      clock(date, started, ended),
    ];
  } catch (error) {
    return [unreachable(url, error as NodeJS.ErrnoException)];
  }
}

async function head(
  url: string,
  { timeoutMs, ...reach }: Reach & { readonly timeoutMs: number },
): Promise<Seen> {
  const agent = await agentFor(url, reach);
  const expectsTls = new URL(url).protocol === "https:";
  const ask = expectsTls ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    // Without an agent of Node's own: that one may have a proxy of the environment.
    const options = {
      method: "HEAD",
      headers: Object.fromEntries(reach.headers),
      signal: AbortSignal.timeout(timeoutMs),
      agent: (agent ?? false) as never,
    };
    const request = ask(url, options);
    const refuse = (error: Error) => {
      reject(error);
      request.destroy();
    };
    let ahead = 0;
    request.once("socket", (socket) => {
      let bytes = 0;
      socket.on("data", (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > MAX_BYTES_AHEAD) refuse(new Error("more than 64 KiB arrived before the answer"));
      });
    });
    request.on("information", () => {
      ahead += 1;
      if (ahead > MAX_AHEAD) refuse(new Error(`more than ${MAX_AHEAD} informational answers (1xx)`));
    });
    request.once("upgrade", (_response, socket) => {
      socket.destroy();
      refuse(new Error("answered 101, which is not a final answer"));
    });
    // The socket is read here, as a listener may close it with its answer.
    request.once("response", ({ statusCode: status = 0, headers, socket }) => {
      const overTls = socket instanceof TLSSocket;
      if ((expectsTls && !overTls) || status === 407)
        return refuse(new ProxyAnswer(`the proxy answered ${status} instead`));
      resolve({ status, date: headers.date, certificate: overTls ? certificate(socket) : undefined });
      request.destroy();
    });
    request.on("error", reject);
    request.end();
  });
}

function unreachable(url: string, error: NodeJS.ErrnoException): Finding {
  const { code = "", name, message } = error;
  const { host } = new URL(url);
  if (error instanceof ProxyAnswer)
    return {
      id: "target",
      state: "fail",
      message: `${host}: ${message}`,
      hint: "Check HTTPS_PROXY and NO_PROXY: the listener itself was not reached.",
    };
  const isTls = /CERT|TLS|SSL|SIGNED|ISSUER|ALTNAME/.test(code);
  return {
    id: isTls ? "tls" : "target",
    state: "fail",
    message: `${host}: ${name === "TimeoutError" ? "no answer in time" : code || message}`,
    hint: isTls
      ? "Name the certificate authority with --ca <file> or NODE_EXTRA_CA_CERTS."
      : "Compare host and port; a proxy may be needed (HTTPS_PROXY).",
  };
}

function certificate(socket: TLSSocket): Finding {
  const { valid_to: validTo } = socket.getPeerCertificate();
  const protocol = socket.getProtocol() ?? "TLS";
  if (!validTo) return { id: "tls", state: "ok", message: protocol };
  const days = Math.floor((Date.parse(validTo) - Date.now()) / 86_400_000);
  return days < EXPIRES_SOON_DAYS
    ? {
        id: "tls",
        state: "warn",
        message: `the certificate expires in ${countOf(days, "day")}`,
        hint: "Renew it.",
      }
    : {
        id: "tls",
        state: "ok",
        message: `${protocol}, the certificate is valid for ${countOf(days, "day")}`,
      };
}

/** A Date header has whole seconds, so a second of difference says nothing. */
function clock(date: string | undefined, started: number, ended: number): Finding {
  const theirs = Date.parse(date ?? "");
  if (Number.isNaN(theirs))
    return { id: "clock", state: "warn", message: "the answer has no Date to compare with" };
  const skewMs = (started + ended) / 2 - (theirs + 500);
  const seconds = Math.round(Math.abs(skewMs) / 1000);
  if (seconds <= 1) return { id: "clock", state: "ok", message: "agrees with the listener's" };
  const message = `${seconds} s ${skewMs > 0 ? "ahead of" : "behind"} the listener's`;
  const hint = "Synchronise the clock: a request more than 5 minutes off is refused.";
  if (Math.abs(skewMs) >= SKEW_FAIL_MS) return { id: "clock", state: "fail", message, hint };
  return Math.abs(skewMs) >= SKEW_WARN_MS
    ? { id: "clock", state: "warn", message, hint }
    : { id: "clock", state: "ok", message };
}
