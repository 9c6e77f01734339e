// Rows of what the headers of Standard Webhooks show by themselves.
import { OWN_ID } from "../../../core/event.js";
import type { ReceivedHeaders } from "../../../core/headers.js";
import { shown } from "../../../core/shown.js";
import type { HeaderNames } from "../../../schemes/standard-webhooks/key.js";
import type { FoundMistake } from "../../rows/mistake.js";

const THREE = "Send webhook-id, webhook-timestamp and webhook-signature, each once.";

/** Other names of each header, of other services and of drafts. */
const OTHER_NAMES: readonly (readonly string[])[] = [
  [
    "webhook-id",
    "svix-id",
    "x-webhook-id",
    "webhook-event-id",
    "x-svix-id",
    "webhook-message-id",
    "x-webhook-event-id",
    "webhook_id",
    "msg-id",
  ],
  [
    "webhook-timestamp",
    "svix-timestamp",
    "x-webhook-timestamp",
    "x-svix-timestamp",
    "webhook_timestamp",
    "x-timestamp",
    "x-webhook-request-timestamp",
  ],
  [
    "webhook-signature",
    "svix-signature",
    "x-webhook-signature",
    "x-svix-signature",
    "webhook_signature",
    "x-signature",
    "x-hub-signature-256",
    "x-webhook-signature-256",
  ],
];

/** Headers of services that sign in a way of their own. */
const FOREIGN = [
  "Stripe-Signature",
  "X-Hub-Signature-256",
  "X-Hub-Signature",
  "X-Slack-Signature",
  "X-Shopify-Hmac-Sha256",
  "X-Twilio-Signature",
  "Paddle-Signature",
  "X-Zm-Signature",
  "X-Gitlab-Token",
  "Signature-Input",
];

/** The three values, under whatever names they were sent. */
interface FoundHeaders {
  readonly values: readonly [id: string, timestamp: string, signature: string];
  /** The names that stand for others. */
  readonly renamed: readonly string[];
  readonly missing: readonly string[];
  readonly twice: readonly string[];
  /** A header that proves requests in another scheme. */
  readonly foreign: string | undefined;
  /** Which kinds of secret the receiver has. */
  readonly kinds: ReadonlySet<string>;
}

/** Reads the three headers; a name of another service counts where the right one is not there. */
export function foundHeaders(
  received: ReceivedHeaders,
  kinds: ReadonlySet<string>,
  { id, timestamp, signature }: HeaderNames,
): FoundHeaders {
  const names = [id, timestamp, signature];
  const renamed: string[] = [];
  const missing: string[] = [];
  const values = names.map((name, place) => {
    const [own] = received.all(name);
    if (own !== undefined) return own;
    const other = OTHER_NAMES[place]?.find((one) => received.all(one).length > 0);
    if (other === undefined) missing.push(name);
    else renamed.push(other);
    return other === undefined ? "" : (received.all(other)[0] ?? "");
  });
  const twice = names.filter((name) => received.all(name).length > 1);
  const foreign = FOREIGN.find((name) => received.all(name).length > 0);
  return { values: values as unknown as FoundHeaders["values"], renamed, missing, twice, foreign, kinds };
}

/** What is wrong with the three headers. */
export const HEADER_MISTAKES: readonly FoundMistake<FoundHeaders>[] = [
  {
    id: "headers-of-svix",
    title: "Headers of Svix",
    message:
      "The request has the headers svix-id, svix-timestamp and svix-signature. This scheme has webhook-*.",
    fix: `${THREE} A sender that is Svix itself always writes its own names: tell the verifier that these are the names.`,
    find: ({ renamed }) => renamed.some((name) => name.includes("svix-")),
  },
  {
    id: "header-misnamed",
    title: "Headers with other names",
    message: "A header has another name than in this scheme.",
    fix: THREE,
    find({ renamed }) {
      const others = renamed.filter((name) => !name.includes("svix-"));
      return others.length > 0 && `${this.message} There is ${others.join(", ")}.`;
    },
  },
  {
    id: "header-missing",
    title: "A header is missing",
    message: "One of the three headers is missing.",
    fix: `${THREE} Look for a proxy or a function that passes on only what it knows.`,
    find: ({ missing, foreign }) =>
      missing.length > 0 &&
      `Missing: ${missing.join(", ")}.${foreign === undefined ? "" : ` There is ${foreign}, which is of another scheme.`}`,
  },
  {
    id: "header-twice",
    title: "A header is there twice",
    message: "One of the three headers is there more than once.",
    fix: THREE,
    find: ({ twice }) => twice.length > 0 && `More than once: ${twice.join(", ")}.`,
  },
  {
    id: "id-malformed",
    title: "An id of another form",
    message: "webhook-id is not 1 to 256 visible characters without a full stop.",
    fix: "Send an id without full stops and white space, such as msg_ and letters: a full stop separates the signed parts.",
    find: ({ values: [id], missing }) =>
      missing.length === 0 &&
      (!OWN_ID.test(id) || id.includes(".")) &&
      `webhook-id is ${shown(id)}, and not 1 to 256 visible characters without a full stop.`,
  },
  {
    id: "signature-of-other-kind",
    title: "A signature of the other kind",
    message: "The header has signatures of one kind, and the receiver keys of the other.",
    fix: "Give the receiver the secret whsec_ for v1, and the public key whpk_ for v1a.",
    find({ values: [, , list], kinds }) {
      const isA = /(?:^|\s)v1a,/.test(list);
      const is1 = /(?:^|\s)v1,/.test(list);
      if (isA && !is1 && kinds.has("symmetric") && kinds.size === 1)
        return "The header has signatures of v1a alone, and the receiver a shared secret (whsec_), which is for v1: whether they are right was not checked, as that takes the sender's public key (whpk_).";
      return is1 && !isA && kinds.size > 0 && !kinds.has("symmetric")
        ? "The header has signatures of v1 alone, and the receiver a public key (whpk_), which is for v1a: whether they are right was not checked, as that takes the shared secret (whsec_)."
        : false;
    },
  },
];
