// The tools for assistants that look and change nothing.
import { portOf } from "./inspector-client.js";
import { listRequests, showRequest } from "./requests.js";
import { flagWords, number, type Tool, text } from "./tool.js";

/** The port of a local listener, in every tool that looks at one. */
export const PORT = {
  type: "integer",
  minimum: 1,
  maximum: 65_535,
  description: "the port of the local listener; not needed where only one runs",
};
/** The number of a request. */
export const NUMBER = { type: "integer", minimum: 1, maximum: Number.MAX_SAFE_INTEGER };
export const EVENT_ID = {
  type: "string",
  pattern: "^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$",
  description: "an event id, a UUID",
};
const PROFILE = {
  type: "string",
  pattern: "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$",
  description: "a profile of the configuration; list_profiles names them",
};
const LIMIT = { type: "integer", minimum: 1, maximum: 100, description: "at most this many; 20 by default" };
const DURATION = { type: "string", pattern: "^[0-9]{1,6}(ms|s|m|h|d)$" };

/** Tools that look and change nothing. */
export const READING_TOOLS: readonly Tool[] = [
  {
    name: "list_profiles",
    title: "List profiles",
    description:
      "The profiles of the configuration with their targets. A profile stands for a target and its secret.",
    input: {},
    effect: "reads",
    call: (_input, { call }) => call(commandOf("profileList"), []),
  },
  {
    name: "list_listeners",
    title: "List local listeners",
    description:
      "The listeners that run on this machine: port, URL, whether they answer and keep their requests.",
    input: {},
    effect: "reads",
    call: (_input, { listeners }) => listeners.list(),
  },
  {
    name: "list_requests",
    title: "List received requests",
    description:
      "The last requests that a local listener got, newest first: status, error code, event id, reason. Bodies are in show_request.",
    input: {
      port: PORT,
      limit: LIMIT,
      status: {
        type: "string",
        pattern: "^([1-5][0-9]{2}|[1-5]xx)(,([1-5][0-9]{2}|[1-5]xx)){0,9}$",
        description: "only these statuses, such as 401 or 4xx",
      },
      before: { ...NUMBER, description: "only requests with a smaller number, for older ones" },
    },
    effect: "reads",
    call(input, { io }) {
      const [status, before] = [text(input, "status"), number(input, "before")];
      return listRequests(io, portOf(io, input.port), {
        limit: number(input, "limit") ?? 20,
        ...(status === undefined ? {} : { status }),
        ...(before === undefined ? {} : { before }),
      });
    },
  },
  {
    name: "show_request",
    title: "Explain one received request",
    description:
      "Why a local listener accepted or refused a request: every check in order, the known mistake behind a refusal and its fix, headers and the beginning of the body.",
    input: {
      port: PORT,
      n: { ...NUMBER, description: "the number from list_requests; the newest by default" },
    },
    effect: "reads",
    call: (input, { io }) => showRequest(io, portOf(io, input.port), number(input, "n")),
  },
  {
    name: "verify_request",
    title: "Check a captured request",
    description:
      "Checks a request that was captured elsewhere against a profile's secret, as the service does, and names the mistake behind a refusal. For requests that are signed with a secret (HMAC).",
    input: {
      profile: PROFILE,
      headers: {
        type: "string",
        maxLength: 32_768,
        description: "the header lines, Name: value, one on each line",
      },
      body: { type: "string", maxLength: 131_072, description: "the body, exactly as it was sent" },
      checkTime: { type: "boolean", description: "refuse an old timestamp too; not by default" },
    },
    required: ["headers", "body"],
    effect: "reads",
    call(input, { call }) {
      const words = [
        ...flagWords(input, { profile: "profile" }),
        ...(input.checkTime === true ? [] : ["--ignore-time"]),
      ];
      return call(commandOf("verify"), [...words, "--", "-"], rawRequest(input));
    },
  },
  {
    name: "explain_code",
    title: "Explain a code",
    description:
      "What an error code (SIGNATURE_MISMATCH), a mistake (secret-base64url-decoded), an HTTP status or an exit code means, and what to do.",
    input: {
      code: { type: "string", maxLength: 100, description: "the code, mistake, status or exit code" },
    },
    required: ["code"],
    effect: "reads",
    call: (input, { call }) => call(commandOf("explain"), ["--", text(input, "code") ?? ""]),
  },
  {
    name: "list_events",
    title: "List sent events",
    description:
      "The events that this user sent with hookproof in the last 7 days, newest first, without bodies.",
    input: {
      text: {
        type: "string",
        minLength: 1,
        maxLength: 200,
        description: "only events with this text in id, URL or body",
      },
      failed: { type: "boolean", description: "only events that were not accepted so far" },
      since: { ...DURATION, description: "only events sent within this time, such as 1h" },
      limit: LIMIT,
    },
    effect: "reads",
    call(input, { call }) {
      const words = flagWords({ limit: 20, ...input }, { failed: "failed", since: "since", limit: "limit" });
      const given = text(input, "text");
      return call(commandOf("eventsList"), [...words, ...(given === undefined ? [] : ["--", given])]);
    },
  },
  {
    name: "show_outbox",
    title: "Show the outbox",
    description:
      "What the outbox holds for each listener: pending, in flight, delivered, dead, paused; and its workers, each with when it was last seen.",
    input: {},
    effect: "reads",
    call: (_input, { call, outboxWords }) => call(commandOf("outboxStatus"), outboxWords),
  },
  {
    name: "list_dead_letters",
    title: "List dead letters",
    description:
      "The events that the outbox could not deliver, oldest first, with reason and attempts; no bodies.",
    input: {
      listener: { type: "string", minLength: 1, maxLength: 200, description: "only this listener's" },
      reason: {
        enum: ["refused", "attempts", "window", "unsendable"],
        description: "only those with this reason",
      },
      code: { type: "string", minLength: 1, maxLength: 100, description: "only those with this error code" },
      olderThan: { ...DURATION, description: "only those that failed longer ago, such as 1h" },
      limit: LIMIT,
    },
    effect: "reads",
    call(input, { call, outboxWords }) {
      const names = {
        listener: "listener",
        reason: "reason",
        code: "code",
        olderThan: "older-than",
        limit: "limit",
      };
      return call(commandOf("outboxDead"), [...outboxWords, ...flagWords({ limit: 20, ...input }, names)]);
    },
  },
  {
    name: "show_attempts",
    title: "Show an event's attempts",
    description: "An outbox event's state at each listener, with every attempt to deliver it.",
    input: { eventId: EVENT_ID },
    required: ["eventId"],
    effect: "reads",
    call: (input, { call, outboxWords }) =>
      call(commandOf("outboxAttempts"), [...outboxWords, "--", text(input, "eventId") ?? ""]),
  },
];

/** The commands behind these tools; each is loaded when it is called. */
const LOADED = {
  profileList: async () => (await import("../commands/profile.js")).profileList,
  verify: async () => (await import("../commands/verify.js")).verify,
  explain: async () => (await import("../commands/explain.js")).explain,
  eventsList: async () => (await import("../commands/events.js")).eventsList,
  outboxStatus: async () => (await import("../commands/outbox-status.js")).outboxStatus,
  outboxDead: async () => (await import("../commands/outbox-dead.js")).outboxDead,
  outboxAttempts: async () => (await import("../commands/outbox-status.js")).outboxAttempts,
} as const;

function commandOf(name: keyof typeof LOADED) {
  return LOADED[name]();
}

/** A raw request of its parts: in this form no text is taken for a curl command, which could name files. */
function rawRequest(input: Parameters<Tool["call"]>[0]): string {
  const lines = (text(input, "headers") ?? "").split(/\r?\n/).filter((line) => line.trim() !== "");
  return ["POST / HTTP/1.1", ...lines, "", text(input, "body") ?? ""].join("\r\n");
}
