// Finds the mistakes that give a signature of Standard Webhooks.
import { hmacOf } from "#hash";
import { bodyBytes, decodeBase64url } from "../../../core/bytes.js";
import { type HeadersInput, receivedHeaders } from "../../../core/headers.js";
import { readKey } from "../../../schemes/standard-webhooks/key.js";
import {
  ID_HEADER,
  listOf,
  SIGNATURE_HEADER,
  type StandardWebhooksSecrets,
  TIMESTAMP_HEADER,
} from "../../../schemes/standard-webhooks/sign.js";
import { catalogueOf, type Mistake } from "../../rows/mistake.js";
import { choices, firstFound, mistakesOf, ONE_MISTAKE } from "../../rows/run.js";
import { BODIES, FORMS, HEADS, KEYS, MISTAKES as SIGNATURE_MISTAKES } from "./mistakes.js";
import { TIME_MISTAKES } from "./time-mistakes.js";

/** Every mistake of the scheme. */
export const MISTAKES = catalogueOf(TIME_MISTAKES, SIGNATURE_MISTAKES);

/** A request of Standard Webhooks. Of several signatures one that matches says enough. */
export interface StandardWebhooksInput {
  /** Standard Webhooks. */
  readonly scheme: "standard-webhooks";
  /** The request as it arrived. */
  readonly request: {
    /** The headers as received. */
    readonly headers: HeadersInput;
    /** The body as received; a text stands for its UTF-8 bytes. Empty if it is missing. */
    readonly body?: string | Uint8Array | undefined;
  };
  /** `whsec_…`: one, or several. */
  readonly secrets: StandardWebhooksSecrets;
}

/**
 * How the timestamp is written, and the fewest mistakes that together give a signature of the request, for `v1`; none if
 * one is right, or none is found.
 */
export function diagnosed({
  request: { headers, body = "" },
  secrets,
}: StandardWebhooksInput): readonly Mistake[] {
  const received = receivedHeaders(headers);
  const [id = "", timestamp = "", list = ""] = [ID_HEADER, TIMESTAMP_HEADER, SIGNATURE_HEADER].map(
    (name) => received.all(name)[0],
  );
  const signatures = new Set([list, ...list.split(" ", MOST)]);
  const sent = bodyBytes(body);
  const dimensions = {
    key: KEYS,
    head: HEADS,
    body: BODIES.map((option) => ({ ...option, repeat: option.repeat(sent) })),
  };
  let fewest: readonly Mistake[] | undefined;
  for (const secret of listOf(secrets).filter((text) => readKey(text).kind === "symmetric"))
    for (const choice of choices(dimensions, { upTo: 3 * ONE_MISTAKE })) {
      const made = mistakesOf(choice);
      if (fewest !== undefined && made.length >= fewest.length) break;
      const { key, head, body: signed } = choice;
      if (signed.repeat === undefined) continue;
      const parts = [head.repeat(id, timestamp), signed.repeat];
      const digest = decodeBase64url(hmacOf("sha256", key.repeat(secret), parts));
      const form = digest && FORMS.find(({ repeat }) => signatures.has(repeat(digest)));
      if (!form) continue;
      const found = form.mistake ? [...made, form.mistake] : made;
      if (fewest === undefined || found.length < fewest.length) fewest = found;
    }
  const inTime = received.all(TIMESTAMP_HEADER).length === 1 ? firstFound(TIME_MISTAKES, timestamp) : [];
  return [...inTime, ...(fewest ?? [])];
}

const MOST = 16;
