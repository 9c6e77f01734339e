// The transport that the flags ask for, and what it shows of messages.
import type { HeaderPair, Transport } from "hookproof";
import type { Context } from "../command.js";
import { agentFor } from "./agent.js";
import { type Reach, withHeaders } from "./reach.js";

/** The transport that the flags ask for. With -v it shows each exchange. */
export async function transportFor({ args, out }: Context, url: string, reach: Reach): Promise<Transport> {
  const agent = await agentFor(url, reach);
  const { nodeTransport, withoutValues } = await import("hookproof/node");
  const send = withHeaders(nodeTransport({ agent }), reach);
  const own = reach.headers.map(([name]): HeaderPair => [name, "[…]"]);
  const isTimeChosen = args.text("timestamp") !== undefined;
  return async (request) => {
    const { pathname, host } = new URL(request.url);
    out.detail(1, `> ${request.method} ${pathname}`);
    showMessage(out, ">", [["Host", host], ...request.headers, ...own], request.body);
    const response = await send(request);
    out.detail(1, `< ${response.status}`);
    const tokens = request.headers.flatMap(([name, value]) => (IS_CREDENTIAL.test(name) ? value : []));
    const shown = (text: string) => withoutValues(text, tokens);
    const body = Buffer.from(shown(Buffer.from(response.body).toString("utf8")));
    showMessage(
      out,
      "<",
      response.headers.map(([name, value]): HeaderPair => [name, shown(value)]),
      body,
    );
    // Only an answer that is the host's own corrects the clock: a timestamp that the user chose stays.
    return isTimeChosen ? { ...response, authenticated: false } : response;
  };
}

/** The headers and the body of a message, as details. */
export function showMessage(
  out: Context["out"],
  mark: ">" | "<",
  headers: readonly HeaderPair[],
  body: Uint8Array = new Uint8Array(),
): void {
  for (const [name, value] of headers) out.detail(1, `${mark} ${name}: ${maskedHeader(name, value)}`);
  if (body.length === 0) return;
  out.detail(1, mark);
  for (const line of Buffer.from(body).toString("utf8").split("\n")) out.detail(1, `${mark} ${line}`);
}

const IS_CREDENTIAL = /^(?:proxy-)?authorization$/i;

/** A header's value, without what could be used again: a token, a cookie. */
function maskedHeader(name: string, value: string): string {
  if (IS_CREDENTIAL.test(name)) return `${value.split(" ")[0]} […]`;
  return /^(?:set-)?cookie$/i.test(name) ? "[…]" : value;
}
