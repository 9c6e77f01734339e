import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { TLSSocket } from "node:tls";
import { agentFor } from "../agent.js";
import type { Finding } from "./finding.js";

/** Half of the service's window of 5 minutes: from here on a slow request may fall out of it. */
const SKEW_WARN_MS = 150_000;
const SKEW_FAIL_MS = 300_000;
const EXPIRES_SOON_DAYS = 14;

/** Connects to a target without sending an event: connection, certificate, and the receiver's clock. */
export async function checkTarget(
  url: string,
  options: { timeoutMs: number; ca: string | undefined; insecure: boolean },
): Promise<Finding[]> {
  const started = Date.now();
  let response: IncomingMessage;
  try {
    response = await head(url, options);
  } catch (error) {
    return [unreachable(url, error as NodeJS.ErrnoException)];
  }
  const ended = Date.now();
  const { socket } = response;
  const found: Finding[] = [
    {
      id: "target",
      state: "ok",
      message: `${new URL(url).host} answered ${response.statusCode} in ${ended - started} ms`,
    },
    ...(socket instanceof TLSSocket ? [certificate(socket)] : []),
    clock(response.headers.date, started, ended),
  ];
  socket.destroy();
  return found;
}

async function head(
  url: string,
  { timeoutMs, ca, insecure }: { timeoutMs: number; ca: string | undefined; insecure: boolean },
): Promise<IncomingMessage> {
  const agent = await agentFor(url, { ca, insecure });
  const ask = url.startsWith("https:") ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const request = ask(url, {
      method: "HEAD",
      signal: AbortSignal.timeout(timeoutMs),
      ...(agent ? { agent: agent as never } : {}),
    });
    request.once("response", (response) => {
      response.resume();
      resolve(response);
    });
    request.once("error", reject);
    request.end();
  });
}

function unreachable(url: string, { code = "", name, message }: NodeJS.ErrnoException): Finding {
  const { host } = new URL(url);
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
    ? { id: "tls", state: "warn", message: `the certificate expires in ${days} days`, hint: "Renew it." }
    : { id: "tls", state: "ok", message: `${protocol}, the certificate is good for ${days} days` };
}

/** A Date header has whole seconds, so a second of difference says nothing. */
function clock(date: string | undefined, started: number, ended: number): Finding {
  const theirs = Date.parse(date ?? "");
  if (Number.isNaN(theirs))
    return { id: "clock", state: "warn", message: "the answer has no Date to compare with" };
  const skewMs = (started + ended) / 2 - (theirs + 500);
  const seconds = Math.round(Math.abs(skewMs) / 1000);
  if (seconds <= 1) return { id: "clock", state: "ok", message: "agrees with the receiver's" };
  const message = `${seconds} s ${skewMs > 0 ? "ahead of" : "behind"} the receiver's`;
  const hint = "Synchronise the clock: a request more than 5 minutes off is refused.";
  if (Math.abs(skewMs) >= SKEW_FAIL_MS) return { id: "clock", state: "fail", message, hint };
  return Math.abs(skewMs) >= SKEW_WARN_MS
    ? { id: "clock", state: "warn", message, hint }
    : { id: "clock", state: "ok", message };
}
