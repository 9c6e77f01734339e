import express, { type Router } from "express";
import { receivedRequest, sendAnswer } from "hookproof/node";
import {
  createReceiver,
  type ReceivedRequest,
  type Receiver,
  type ReceiverAnswer,
  type ReceiverOptions,
  type Run,
  type Verdict,
} from "hookproof/receiver";
import { answerUnknown } from "./unknown-path.js";

/** A listener behind the webhook endpoint, and what it does with an event. */
export interface ListenerSetup extends ReceiverOptions {
  /** Accepts an event durably; by default it is accepted and nothing runs. */
  run?: Run | undefined;
  /** Changes or delays an answer before it is sent, to try out a sender; the verdict stays what it is. */
  beforeAnswer?: ((answer: ReceiverAnswer) => ReceiverAnswer | Promise<ReceiverAnswer>) | undefined;
}

/** One request and its verdict, told once it has been answered. */
export interface HandledRequest {
  readonly listenerId: string;
  readonly status: number;
  readonly verdict: Verdict;
  /** Milliseconds since the epoch. */
  readonly receivedAt: number;
  /** The request as it was sent: header lines, and as much of the body as was read. */
  readonly request: ReceivedRequest & { readonly body: Uint8Array };
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
  const receivers = new Map<string, { receiver: Receiver; run: Run } & Pick<ListenerSetup, "beforeAnswer">>();
  for (const { run = async () => {}, beforeAnswer, ...options } of listeners) {
    const { id } = options.listener;
    if (receivers.has(id)) throw new TypeError(`two listeners have the id ${id}`);
    receivers.set(id, { receiver: createReceiver(options), run, beforeAnswer });
  }

  const router = express.Router({ caseSensitive: true, strict: true });
  router.all(PATH, async (req, res) => {
    const known = receivers.get(req.params.listenerId);
    if (!known) {
      answerUnknown(req, res);
      return;
    }
    const receivedAt = Date.now();
    const request = receivedRequest(req);
    const chunks: Uint8Array[] = [];
    const decided = await known.receiver.receive(
      { ...request, body: copied(request.body, chunks) },
      known.run,
    );
    const answer = known.beforeAnswer ? await known.beforeAnswer(decided) : decided;
    sendAnswer(answer, req, res);
    onHandled({
      listenerId: req.params.listenerId,
      status: answer.status,
      verdict: answer.verdict,
      receivedAt,
      request: { ...request, body: Buffer.concat(chunks) },
    });
  });
  return router;
}

/** Hands chunks on as they arrive and keeps them, for whoever watches. */
async function* copied(body: AsyncIterable<Uint8Array>, chunks: Uint8Array[]): AsyncIterable<Uint8Array> {
  for await (const chunk of body) {
    chunks.push(chunk);
    yield chunk;
  }
}
