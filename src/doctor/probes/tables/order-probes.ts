// Probes that show which check comes first.
import { utf8 } from "../../../core/bytes.js";
import { CONTENT_TYPE_HEADER } from "../../../core/headers.js";
import { MAX_BODY_BYTES } from "../../../core/protocol.js";
import { EVENT_ID_HEADER, TIMESTAMP_HEADER } from "../../../schemes/access-governance/protocol.js";
import { type ProbeDefinition, refuses } from "../probe.js";
import { type RequestKit, replaced, without } from "../requests.js";

/** A request with two faults. Which of them a listener names is its own choice; that it refuses is not. */
function twoFaults(
  id: string,
  expected: readonly number[],
  title: string,
  build: ProbeDefinition<RequestKit>["build"],
): ProbeDefinition {
  return {
    ...refuses(400, {
      id,
      title,
      section: "5.2",
      listenerChoice: "status",
      decision: "R1",
      means: "A request with two faults is accepted: one of the checks hides the other.",
      fix: "Refuse at the first check that fails, whichever it is.",
      build,
    }),
    expected,
  };
}

export const ORDER_PROBES: readonly ProbeDefinition[] = [
  twoFaults(
    "timestamp-too-old-bad-proof",
    [400, 401],
    "a timestamp of an hour ago, signed with a wrong secret or key",
    (kit) => kit.signedWithWrongKey({ timestamp: String(kit.nowSeconds - 3600) }),
  ),
  twoFaults(
    "event-id-not-a-uuid-bad-proof",
    [400, 401],
    "an event id that is a word, signed with a wrong secret or key",
    (kit) => kit.signedWithWrongKey({ eventId: "event-1" }),
  ),
  twoFaults(
    "content-type-text-bad-proof",
    [401, 415],
    "Content-Type: text/plain, signed with a wrong secret or key",
    async (kit) => replaced(await kit.signedWithWrongKey(), CONTENT_TYPE_HEADER, "text/plain"),
  ),
  twoFaults(
    "body-too-large-bad-proof",
    [401, 413],
    "a body of 65,537 bytes, signed with a wrong secret or key",
    (kit) => kit.signedWithWrongKey({ body: utf8(`"${"a".repeat(MAX_BODY_BYTES - 1)}"`) }),
  ),
  twoFaults(
    "timestamp-and-event-id-missing",
    [400],
    "neither Webhook-Timestamp nor Webhook-Event-Id",
    async (kit) => without(without(await kit.signed(), TIMESTAMP_HEADER), EVENT_ID_HEADER),
  ),
];

/** What one fault is about, and the probes that have it alone; the one that a listener's method knows counts. */
interface Fault {
  readonly about: string;
  readonly alone: readonly string[];
}

const PROOF: Fault = {
  about: "the signature or token",
  alone: ["signature-of-other-secret", "token-of-other-key"],
};

/** The two faults of each probe that shows an order. */
export const FAULTS_OF: Readonly<Record<string, readonly [Fault, Fault]>> = {
  "timestamp-too-old-bad-proof": [{ about: "the timestamp", alone: ["timestamp-too-old"] }, PROOF],
  "event-id-not-a-uuid-bad-proof": [{ about: "the event id", alone: ["event-id-not-a-uuid"] }, PROOF],
  "content-type-text-bad-proof": [{ about: "the content type", alone: ["content-type-text"] }, PROOF],
  "body-too-large-bad-proof": [{ about: "the size of the body", alone: ["body-too-large"] }, PROOF],
  "body-not-json-bad-proof": [{ about: "the form of the body", alone: ["body-not-json"] }, PROOF],
  "event-id-processed-bad-proof": [
    { about: "whether the event id was processed", alone: ["event-id-processed"] },
    PROOF,
  ],
  "timestamp-and-event-id-missing": [
    { about: "the timestamp", alone: ["timestamp-missing"] },
    { about: "the event id", alone: ["event-id-missing"] },
  ],
};
