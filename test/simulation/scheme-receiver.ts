import { createReceiver, type Receiver } from "hookproof/receiver";
import type { Verifier } from "hookproof/schemes";
import type { Answer, ReceivedRequest, ReceiverOptions } from "./reference-receiver.js";
import type { SchemeSide } from "./scheme-sides.js";

type Options = Omit<ReceiverOptions, "secrets">;

/** A listener of a scheme: the library's receiver, with the scheme's verifier and a memory of its own. */
export class SchemeReceiver {
  readonly #side: SchemeSide;
  readonly #options: Options;
  readonly #receiver: Receiver;

  /** @param verifier the one of now, which knows the secret or key of now */
  constructor(side: SchemeSide, verifier: () => Verifier, options: Options) {
    this.#side = side;
    this.#options = options;
    const now = verifier();
    this.#receiver = createReceiver({
      verifier: { ...now, verify: (request) => verifier().verify(request) },
      clock: { now: options.now },
    });
  }

  receive({ method, url = "", headers, body }: ReceivedRequest, reply: (answer: Answer) => void): void {
    const { after, runMs, onRun } = this.#options;
    const { event } = this.#side.seen(headers, body);
    const run = ({ id }: { readonly id: string }) =>
      new Promise<void>((resolve) => {
        after(runMs(), () => {
          onRun(id, event);
          resolve();
        });
      });
    void this.#receiver.receive({ method, url, headers, body }, run).then((answer) => {
      const wait = Object.entries(answer.headers).find(([name]) => name.toLowerCase() === "retry-after")?.[1];
      const retry = wait === undefined ? {} : { retryAfterS: Number(wait) };
      reply({ status: answer.status, body: answer.body, ...retry });
    });
  }
}
