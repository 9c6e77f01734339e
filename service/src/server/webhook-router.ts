// Routes webhooks to listeners of all schemes.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Signer } from "hookproof";
import type { Mistake } from "hookproof/diagnose";
import type { Jwks } from "hookproof/jwks";
import { receivedRequest, sendAnswer } from "hookproof/node";
import {
  createReceiver,
  type ReceivedRequest,
  type Receiver,
  type ReceiverAnswer,
  type ReceiverOptions,
  type Run,
  type SchemeReceiverOptions,
  type Verdict,
} from "hookproof/receiver";
import { dropped, harmless } from "./harmless.js";
import { answerUnknown, type UnknownRequest } from "./unknown-path.js";

type BeforeAnswer = (
  answer: ReceiverAnswer,
  request: CompleteRequest,
) => ReceiverAnswer | Promise<ReceiverAnswer>;

/** What a listener of a local server does with an event. */
interface Handling {
  /** Accepts an event durably; by default it is accepted and nothing runs. It is given the whole request too. */
  run?: ((...given: [...Parameters<Run>, request: CompleteRequest]) => Promise<unknown>) | undefined;
  /**
   * Changes or delays an answer before it is sent, to try out a sender; the verdict stays what it is. Where it throws
   * or rejects, the answer is sent as it was decided.
   */
  beforeAnswer?: BeforeAnswer | undefined;
}

/** A listener of a local server: the options of its receiver, and what it does with an event. */
export interface LocalListener extends ReceiverOptions, Handling {
  /** Signs what an inspector sends to this listener again; an HMAC listener needs none, it has the secret. */
  signer?: Signer | undefined;
  /** The document of its key set as it was read last, for the mistakes that an inspector names. */
  keySet?: (() => Promise<Jwks | undefined>) | undefined;
}

/** A listener of another scheme than the service's own, at a path of the same form. */
export interface SchemeListener extends SchemeReceiverOptions, Handling {
  /** The id in its path. */
  id: string;
  /** The secrets of its senders, which an inspector hides in what it keeps. */
  secrets?: readonly string[] | undefined;
  /** Signs the test events of an inspector. */
  signer?: Signer | undefined;
  /** The type of an inspector's test event that the scheme can sign; by default `user.offboarded`. */
  testEvent?: string | undefined;
  /** The mistakes behind a refusal of a request that arrived `at` a time in milliseconds, for an inspector. */
  mistakes?: ((request: CompleteRequest, at: number) => Promise<readonly Mistake[]>) | undefined;
}

/** A listener of either kind. */
export type AnyListener = LocalListener | SchemeListener;

/** A request with its body, as much of it as was read. */
export type CompleteRequest = ReceivedRequest & { readonly body: Uint8Array };

/** The id in a listener's path. */
export function listenerIdOf(setup: AnyListener): string {
  return setup.verifier === undefined ? setup.listener.id : setup.id;
}

/** One request and its verdict, reported once it has been answered. */
export interface HandledRequest {
  /** The listener that answered. */
  readonly listenerId: string;
  readonly status: number;
  readonly verdict: Verdict;
  /** Milliseconds since the epoch. */
  readonly receivedAt: number;
  /** From the end of the headers to the answer. */
  readonly durationMs: number;
  /** The answer as it was sent. */
  readonly answer: Pick<ReceiverAnswer, "headers" | "body">;
  /** The request as it was sent: header lines, and as much of the body as was read. */
  readonly request: CompleteRequest;
}

/** The webhook endpoint (specification 4.10) in a request line, which may hold a whole URL (RFC 9112 section 3.2.2). */
const TARGET = /^(?:https?:\/\/[^/?#]*)?\/api\/v1\/webhooks\/incoming\/([^/?#]+)(?:[?#]|$)/;

/** Finds a listener by its id; the same object for as long as nothing about the listener changes. */
export type FindListener = (listenerId: string) => LocalListener | undefined;

/** Answers a request for the webhook endpoint and passes on any other, as `app.use` of Express and Connect takes it. */
export type WebhookRouter = (
  request: IncomingMessage,
  response: ServerResponse,
  next: (error?: unknown) => void,
) => void;

/**
 * The webhook endpoint for an Express application: every listener's requests go through its receiver, with the
 * bytes and header lines as they were sent. Mount it before any body parser. `onHandled` is called for every request
 * that reached a listener, `onUnknown` for those with an id that none has, once they have been answered; what the two
 * throw or reject with is dropped. What `listeners` throws goes to the application's error handler.
 *
 * @param listeners a list that stays as it is, or a function that is asked at every request
 */
export function webhookRouter(
  listeners: readonly AnyListener[] | FindListener,
  onHandled: (request: HandledRequest) => void = () => {},
  onUnknown: (request: UnknownRequest) => void = () => {},
): WebhookRouter {
  const find = typeof listeners === "function" ? foundReceivers(listeners) : fixedReceivers(listeners);
  const notifyHandled = harmless(onHandled);
  const notifyUnknown = harmless(onUnknown);

  async function handle(listenerId: string, req: IncomingMessage, res: ServerResponse): Promise<void> {
    const known = find(listenerId);
    if (!known) {
      notifyUnknown(answerUnknown(req, res));
      return;
    }
    const receivedAt = Date.now();
    const started = performance.now();
    const request = receivedRequest(req);
    const chunks: Uint8Array[] = [];
    let whole: CompleteRequest | undefined;
    // An event runs once its body has been read, and then nothing comes after it.
    const complete = () => {
      whole ??= { ...request, body: Buffer.concat(chunks) };
      return whole;
    };
    const decided = await known.receiver.receive(
      { ...request, body: copied(request.body, chunks) },
      (event, reservation) => known.run(event, reservation, complete()),
    );
    const answer = await changed(decided, complete(), known.beforeAnswer);
    sendAnswer(answer, req, res);
    notifyHandled({
      listenerId,
      status: answer.status,
      verdict: answer.verdict,
      receivedAt,
      durationMs: performance.now() - started,
      answer,
      request: complete(),
    });
  }

  return (req, res, next) => {
    const listenerId = TARGET.exec(req.url ?? "")?.[1];
    if (listenerId === undefined) next();
    else handle(listenerId, req, res).catch(next);
  };
}

/** The answer as `beforeAnswer` has it, or as it was decided: an event that ran must not look as if it had not. */
async function changed(
  decided: ReceiverAnswer,
  request: CompleteRequest,
  beforeAnswer: LocalListener["beforeAnswer"],
): Promise<ReceiverAnswer> {
  try {
    return (await beforeAnswer?.(decided, request)) ?? decided;
  } catch {
    return decided;
  }
}

type Prepared = { receiver: Receiver; run: NonNullable<Handling["run"]> } & Pick<Handling, "beforeAnswer">;

function prepared({ run = async () => {}, beforeAnswer, ...given }: AnyListener): Prepared {
  // What is for an inspector is no option of a receiver, which refuses those that it does not have.
  const {
    signer: _signer,
    keySet: _keySet,
    secrets: _secrets,
    mistakes: _mistakes,
    testEvent: _testEvent,
    ...options
  } = { ...FOR_INSPECTOR, ...given };
  return { receiver: createReceiver(options), run, beforeAnswer };
}

const FOR_INSPECTOR: Pick<LocalListener, "signer" | "keySet"> &
  Pick<SchemeListener, "secrets" | "mistakes" | "testEvent"> = {};

function fixedReceivers(listeners: readonly AnyListener[]): (id: string) => Prepared | undefined {
  const receivers = new Map<string, Prepared>();
  for (const setup of listeners) {
    const id = listenerIdOf(setup);
    if (receivers.has(id)) throw new TypeError(`two listeners have the id ${id}`);
    receivers.set(id, prepared(setup));
  }
  return (id) => receivers.get(id);
}

/** A receiver keeps what its listener's events need, so it lives as long as the listener stays the same. */
function foundReceivers(find: FindListener): (id: string) => Prepared | undefined {
  const receivers = new WeakMap<LocalListener, Prepared>();
  return (id) => {
    const setup = find(id);
    if (!setup) return undefined;
    // An `async` function finds nothing here, and its promise may reject.
    if ("then" in setup) dropped(setup);
    const receiver = receivers.get(setup) ?? prepared(setup);
    receivers.set(setup, receiver);
    return receiver;
  };
}

/** Hands chunks on as they arrive and keeps them, for anyone who watches. */
async function* copied(body: AsyncIterable<Uint8Array>, chunks: Uint8Array[]): AsyncIterable<Uint8Array> {
  for await (const chunk of body) {
    chunks.push(chunk);
    yield chunk;
  }
}
