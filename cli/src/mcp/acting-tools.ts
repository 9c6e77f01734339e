// The tools for assistants that start, end, repeat or send something.
import { usageError } from "../failure.js";
import { EXAMPLE_EVENTS } from "../send/payload.js";
import { portOf } from "./inspector-client.js";
import { EVENT_ID, NUMBER, PORT } from "./reading-tools.js";
import { replayRequest } from "./requests.js";
import { flagWords, number, type Tool, text } from "./tool.js";

const TARGET = {
  type: "string",
  pattern: "^(:[0-9]{1,5}|[A-Za-z0-9][A-Za-z0-9._-]{0,63})$",
  description: "a profile, or :4400 for the local listener on that port",
};

/** Refuses a whole number that lost digits when the message was read as JSON, or may have. */
function refuseRounded(body: unknown): void {
  const open = [body];
  while (open.length > 0) {
    const one = open.pop();
    if (typeof one === "object" && one !== null) for (const inner of Object.values(one)) open.push(inner);
    if (!Number.isInteger(one) || Number.isSafeInteger(one)) continue;
    throw usageError(
      `body has the number ${one}, which is beyond 2^53 and may have been another one in the message.`,
      "Write it as a text, or have the user send the body from a file: hookproof send --data @body.json",
    );
  }
}

/** Tools that start, end, repeat or send something: each needs a permission. */
export const ACTING_TOOLS: readonly Tool[] = [
  {
    name: "start_listener",
    title: "Start a local listener",
    description:
      "Starts a listener on this machine that checks requests as the service does. It signs and checks with the profile's secret if that is for this machine, otherwise with a new one; send_event to its port knows it.",
    input: {
      port: {
        type: "integer",
        minimum: 0,
        maximum: 65_535,
        description: "4400 by default; 0 takes a free port",
      },
      respond: {
        type: "integer",
        minimum: 200,
        maximum: 599,
        description: "answer accepted requests with this status, to test a sender",
      },
    },
    needs: "listen",
    effect: "starts",
    call: (input, { listeners }) => listeners.start(flagWords(input, { port: "port", respond: "respond" })),
  },
  {
    name: "stop_listener",
    title: "Stop a local listener",
    description: "Stops a listener that start_listener started; its requests are gone.",
    input: { port: { ...PORT, description: "the listener's port" } },
    required: ["port"],
    needs: "listen",
    effect: "ends",
    call: (input, { listeners }) => listeners.stop(number(input, "port") ?? 0),
  },
  {
    name: "replay_request",
    title: "Replay a received request",
    description:
      "Sends a request again to the local listener that got it. same-id: signed again with the same id, expects 409; exact: unchanged, 400 once it is 5 minutes old; new-id: a new event, runs the automation again.",
    input: {
      port: PORT,
      n: { ...NUMBER, description: "the number from list_requests" },
      kind: { enum: ["same-id", "exact", "new-id"], description: "same-id by default" },
    },
    required: ["n"],
    needs: "send",
    effect: "repeats",
    call: (input, { io }) =>
      replayRequest(io, portOf(io, input.port), {
        n: number(input, "n") ?? 0,
        kind: text(input, "kind") ?? "same-id",
      }),
  },
  {
    name: "send_event",
    title: "Send a signed webhook",
    description: "Signs one event and sends it: at the target it may start an automation.",
    input: {
      target: TARGET,
      body: { type: "object", description: "the body, any JSON object" },
      example: {
        enum: Object.keys(EXAMPLE_EVENTS),
        description: "instead of a body: an example of this type",
      },
      eventId: { ...EVENT_ID, description: "an id of your own (UUID v4); a new one by default" },
    },
    required: ["target"],
    needs: "send",
    effect: "sends",
    call(input, { call, targetWords }) {
      const { profile, target } = targetWords(text(input, "target") ?? "");
      refuseRounded(input.body);
      // JSON text: it begins with no @, which would name a file.
      const data = input.body === undefined ? [] : ["--data", JSON.stringify(input.body)];
      const words = [...profile, ...data, ...flagWords(input, { example: "event", eventId: "event-id" })];
      return call(
        import("../commands/send.js").then(({ send }) => send),
        [...words, "--", target],
      );
    },
  },
  {
    name: "replay_event",
    title: "Replay a sent event",
    description:
      "Sends an event of list_events again with the same id, signed again: 409 proves that the listener runs no event twice. With newId it is a new event, and runs the automation again.",
    input: {
      eventId: { ...EVENT_ID, pattern: `${EVENT_ID.pattern}|^last$`, description: "an event id, or last" },
      target: TARGET,
      newId: { type: "boolean", description: "a new event with the same bytes" },
    },
    required: ["eventId", "target"],
    needs: "send",
    effect: "sends",
    call(input, { call, targetWords }) {
      const { profile, target } = targetWords(text(input, "target") ?? "");
      const kind = input.newId === true ? ["--new-id", "--yes"] : ["--same-id"];
      return call(
        import("../commands/replay.js").then(({ replay }) => replay),
        [...profile, ...kind, "--target", target, "--", text(input, "eventId") ?? ""],
      );
    },
  },
  {
    name: "test_listener",
    title: "Probe a listener",
    description:
      "Sends the test suite to a listener: right and wrong requests. Gives the probes that did not pass, the mistake they lead to, and a summary.",
    input: {
      target: TARGET,
      allowTrigger: { type: "boolean", description: "also the probes that run the automation" },
      only: {
        type: "string",
        pattern: "^[a-z0-9*-]{1,60}$",
        description: "only the probes with this id, such as timestamp-*",
      },
      passed: { type: "boolean", description: "also the probes that passed; not by default" },
    },
    required: ["target"],
    needs: "send",
    effect: "sends",
    async call(input, { call, targetWords }) {
      const { profile, target } = targetWords(text(input, "target") ?? "");
      const words = [...profile, ...flagWords(input, { allowTrigger: "allow-trigger", only: "only" })];
      const { documents } = await call(
        import("../commands/test.js").then(({ test }) => test),
        [...words, "--", target],
      );
      const isShown = ({ type, outcome }: (typeof documents)[number]) =>
        type !== "probe" || input.passed === true || outcome === "fail" || outcome === "unclear";
      return { documents: documents.filter(isShown) };
    },
  },
];
