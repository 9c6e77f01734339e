// Faults of a key set's host, to see what listeners make of them.
import type { RequestListener, ServerResponse } from "node:http";
import type { KeySet } from "hookproof/jwks";
import { toJwksListener } from "hookproof/node";

/** What can be wrong with a key set's host, to see what a listener makes of it. */
export const KEY_SET_FAULTS = ["unreachable", "slow", "empty", "wrong-kid", "html", "500"] as const;

/** One of the faults: connections cut, an answer after 10 s, no keys, kids nobody signs with, a web page, status 500. */
export type KeySetFault = (typeof KEY_SET_FAULTS)[number];

/** Longer than a listener waits for a key set. */
const SLOW_MS = 10_000;

/** A request listener that serves a key set with a fault. */
export function faultyKeySet(
  keySet: KeySet,
  fault: KeySetFault,
  options: { maxAgeSeconds?: number | undefined },
): RequestListener {
  const faulty: Record<KeySetFault, RequestListener> = {
    unreachable: (request) => void request.socket.destroy(),
    slow: (request, response) => {
      const timer = setTimeout(() => served(request, response), SLOW_MS);
      request.socket.once("close", () => clearTimeout(timer));
    },
    empty: toJwksListener({ ...keySet, publicJwks: async () => ({ keys: [] }) }, options),
    "wrong-kid": toJwksListener({ ...keySet, publicJwks: () => withOtherKids(keySet) }, options),
    html: (_request, response) =>
      answer(response, 200, "<!doctype html><title>Sign in</title><p>Sign in to go on.</p>"),
    "500": (_request, response) =>
      answer(response, 500, "<!doctype html><title>Error</title><p>Internal server error</p>"),
  };
  const served = toJwksListener(keySet, options);
  return faulty[fault];
}

async function withOtherKids(keySet: KeySet): ReturnType<KeySet["publicJwks"]> {
  const { keys } = await keySet.publicJwks();
  return { keys: keys.map((key) => ({ ...key, kid: `other-${key.kid}` })) };
}

function answer(response: ServerResponse, status: number, html: string): void {
  response.writeHead(status, { "Content-Type": "text/html; charset=utf-8" });
  response.end(html);
}
