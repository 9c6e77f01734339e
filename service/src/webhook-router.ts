import express, { type Router } from "express";
import { receivedRequest, sendAnswer } from "hookproof/node";
import {
  createReceiver,
  type Receiver,
  type ReceiverOptions,
  type Run,
  type Verdict,
} from "hookproof/receiver";
import { answerUnknown } from "./unknown-path.js";

/** A listener behind the webhook endpoint, and what it does with an event. */
export interface ListenerSetup extends ReceiverOptions {
  /** Accepts an event durably; by default it is accepted and nothing runs. */
  run?: Run | undefined;
}

/** One request and its verdict, told once it has been answered. */
export interface HandledRequest {
  readonly listenerId: string;
  readonly status: number;
  readonly verdict: Verdict;
  /** Milliseconds since the epoch. */
  readonly receivedAt: number;
  readonly rawHeaders: readonly string[];
}

/** The path of the webhook endpoint (specification 4.10). */
const PATH = "/api/v1/webhooks/incoming/:listenerId";

/**
 * An Express router with the webhook endpoint: every listener's requests go through its receiver, with the
 * bytes and header lines as they were sent. Mount it before any body parser.
 */
export function webhookRouter(
  listeners: readonly ListenerSetup[],
  onHandled: (request: HandledRequest) => void = () => {},
): Router {
  const receivers = new Map<string, { receiver: Receiver; run: Run }>();
  for (const { run = async () => {}, ...options } of listeners) {
    const { id } = options.listener;
    if (receivers.has(id)) throw new TypeError(`two listeners have the id ${id}`);
    receivers.set(id, { receiver: createReceiver(options), run });
  }

  const router = express.Router({ caseSensitive: true, strict: true });
  router.all(PATH, async (req, res) => {
    const known = receivers.get(req.params.listenerId);
    if (!known) {
      answerUnknown(req, res);
      return;
    }
    const receivedAt = Date.now();
    const answer = await known.receiver.receive(receivedRequest(req), known.run);
    sendAnswer(answer, req, res);
    onHandled({
      listenerId: req.params.listenerId,
      status: answer.status,
      verdict: answer.verdict,
      receivedAt,
      rawHeaders: req.rawHeaders,
    });
  });
  return router;
}
