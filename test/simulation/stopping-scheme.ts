import type { Signer } from "hookproof";
import type { SchemeSigner } from "hookproof/schemes";
import { DEFAULT_SCHEME } from "../../src/schemes/default-scheme.js";

/** Signs as the service wants it, in a scheme in which 410 means that the receiver wants nothing more. */
export function stoppingSigner({ sign }: Signer): SchemeSigner {
  return {
    scheme: {
      ...DEFAULT_SCHEME,
      name: "stopping",
      classify: (answer, attempt, now) =>
        answer.status === 410
          ? { outcome: "final", code: "REQUEST_REFUSED", hints: [], stopSending: true }
          : DEFAULT_SCHEME.classify(answer, attempt, now),
    },
    sign: async (request) => ({ headers: [await sign(request)] }),
  };
}
