// Rows that the probes of several schemes have: a key that nobody knows, and what was changed on the way.
import { generateKey } from "../../jwks/key-set.js";
import type { SigningKey } from "../../jwt/key.js";
import type { Signer } from "../../schemes/scheme.js";
import type { WrongChange, WrongSigner } from "../probes/scheme-probes.js";

/** A probe signed with a key that the listener does not know. */
export function otherKey(signer: Signer): WrongSigner {
  return {
    id: "signed-with-other-key",
    title: "a request signed with an unknown key",
    means: "Anybody can send events.",
    fix: "Compare the signature, and refuse what does not match.",
    signer,
  };
}

/** A key of the same name and kind. */
export async function keyLike({ kid, alg }: SigningKey): Promise<SigningKey> {
  return { key: (await generateKey({ alg, kid })).privateJwk, kid, alg };
}

type Change = WrongChange["change"];

/** A probe that changes a correct request. */
export function changedProbe(id: string, title: string, change: Change): WrongChange {
  return {
    id,
    title,
    change,
    means: "What was changed on the way, or by somebody else, is taken for the sender's.",
    fix: "Verify the whole proof as the specification says, and refuse what does not match.",
  };
}

/** The change of one header's value. */
export function changedHeader(name: string, of: (value: string) => string): Change {
  return ({ headers, body }) => ({
    headers: headers.map(([key, value]) => [key, key === name ? of(value) : value]),
    body,
  });
}
