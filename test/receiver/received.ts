import type { ReceivedEvent, ReceivedRequest, Receiver, ReceiverAnswer } from "hookproof/receiver";
import { hmacParts, type Parts } from "../kit/hostile-target.js";

/** The listener every receiver here has. */
export const LISTENER_ID = "lst_1";

/** Parts of a request as a receiver takes them. */
export function received(parts: Parts, sourceAddress?: string): ReceivedRequest {
  const { method, target, headers, body } = parts;
  return { method, url: target, headers, body, ...(sourceAddress === undefined ? {} : { sourceAddress }) };
}

/** A correctly signed request for the listener. */
export function signed(options: Parameters<typeof hmacParts>[1] = {}): ReceivedRequest {
  return received(hmacParts(LISTENER_ID, options));
}

/** Runs a request and counts the automation's runs. */
export async function receiveCounting(
  receiver: Receiver,
  request: ReceivedRequest,
  run: (event: ReceivedEvent) => Promise<unknown> = async () => {},
): Promise<ReceiverAnswer & { runs: number }> {
  let runs = 0;
  const answer = await receiver.receive(request, (event) => {
    runs++;
    return run(event);
  });
  return { ...answer, runs };
}
