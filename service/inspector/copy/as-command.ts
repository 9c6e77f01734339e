// A request as a `hookproof` command.
import type { RequestDetail } from "../../src/inspector/contract.js";
import { fromBase64 } from "../text/bytes.js";
import { isJson } from "../text/pretty-json.js";
import { pasteable } from "./as-curl.js";
import { UUID_4 } from "./expected-status.js";
import { shellQuoted } from "./shell-quoted.js";

/** A `hookproof` command that sends the same event, signed again; undefined for a body that cannot be an event, or is signed by another scheme. */
export function asCommand(detail: RequestDetail): string | undefined {
  const body = pasteable(fromBase64(detail.bodyBase64));
  if (detail.scheme || body === undefined || !isJson(body)) return undefined;
  const { kid } = detail.token?.key ?? {};
  return [
    `hookproof send ${shellQuoted(detail.url)}`,
    ...(detail.auth === "jwt"
      ? [`--method jwt --key ${kid === undefined ? "KEY-ID" : shellQuoted(kid)}`]
      : []),
    ...(UUID_4.test(detail.eventId ?? "") ? [`--event-id ${detail.eventId}`] : []),
    `--data=${shellQuoted(body)}`,
  ].join(" \\\n  ");
}
