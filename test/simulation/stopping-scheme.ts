import type { Signer } from "hookproof";

/** Signs as the service wants it, in a scheme in which 410 means that the receiver wants nothing more. */
export function stoppingSigner(signer: Signer): Signer {
  const { scheme } = signer;
  return {
    ...signer,
    scheme: {
      ...scheme,
      name: "stopping",
      classify: (answer, attempt, now) =>
        answer.status === 410
          ? { outcome: "final", code: "REQUEST_REFUSED", hints: [], stopSending: true }
          : scheme.classify(answer, attempt, now),
    },
  };
}
