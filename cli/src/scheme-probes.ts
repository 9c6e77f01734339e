import type { SigningKey } from "hookproof";
import type { WrongChange, WrongSigner } from "hookproof/probes";
import type { SchemeSigner } from "hookproof/schemes";

/** A probe signed with a key that the listener does not know. */
export function otherKey(signer: SchemeSigner): WrongSigner {
  return {
    id: "signed-with-other-key",
    title: "a request signed with an unknown key",
    means: "Anybody can send events.",
    fix: "Compare the signature, and refuse what does not match.",
    signer,
  };
}

/** A key of the same name and kind. */
export async function keyLike({ kid, alg }: Pick<SigningKey, "kid" | "alg">): Promise<SigningKey> {
  const { privateJwk } = await (await import("hookproof/jwks")).generateKey({ alg, kid });
  return { key: privateJwk, kid, alg };
}

type Change = WrongChange["change"];

/** A probe that changes a correct request. */
export function changedProbe(id: string, title: string, change: Change): WrongChange {
  return {
    ...{ id, title, change },
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

/** The same claims with `alg: none`. */
export function unsignedToken(body: Uint8Array): string {
  const [, claims = ""] = Buffer.from(body).toString("latin1").split(".");
  return `${Buffer.from('{"alg":"none","typ":"secevent+jwt"}').toString("base64url")}.${claims}.`;
}
