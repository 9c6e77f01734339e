import { createHash } from "node:crypto";
import { field, type Output } from "./output.js";

/** A request to a listener, as far as a summary shows it. */
export interface RequestSummary {
  readonly url: string;
  readonly proof: string;
  readonly eventId: string;
  /** Unix seconds. */
  readonly timestamp: number;
  readonly body: Uint8Array;
}

/** Prints what is sent, in the words of every command that sends. */
export function describeRequest(out: Output, { url, proof, eventId, timestamp, body }: RequestSummary): void {
  const digest = createHash("sha256").update(body).digest("hex").slice(0, 8);
  out.line(`POST ${url}`);
  out.line(field("method", proof));
  out.line(field("event id", eventId));
  out.line(field("timestamp", `${timestamp}  ${isoSeconds(timestamp)}`));
  out.line(field("body", `${body.length} bytes    sha256:${digest}…`));
}

function isoSeconds(timestamp: number): string {
  return new Date(timestamp * 1000).toISOString().replace(".000Z", "Z");
}
