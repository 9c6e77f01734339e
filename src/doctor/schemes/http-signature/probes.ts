// The probes of HTTP message signatures.
import { newEventId } from "../../../core/event.js";
import type { SigningKey } from "../../../jwt/key.js";
import { generateSecret } from "../../../schemes/access-governance/secret.js";
import { httpSignatureSigner } from "../../../schemes/http-signature/sign.js";
import type { Signer } from "../../../schemes/scheme.js";
import type { SchemeProbeTarget } from "../../probes/scheme-probes.js";
import { changedHeader, changedProbe, keyLike, otherKey } from "../probe-rows.js";

/** A listener's URL and what its sender has. */
export type HttpSignatureSetup = {
  readonly scheme: "http-signature";
  /** The listener's URL. */
  readonly url: string;
} & (
  | {
      /** The key of the sender, of which the listener knows the public half. */
      readonly key: SigningKey;
    }
  | {
      /** The shared secret. */
      readonly secret: string;
      /** The name of the secret, `keyid`. */
      readonly keyId: string;
    }
);

/** What a listener of HTTP message signatures is probed with. */
export async function probeTarget(setup: HttpSignatureSetup): Promise<SchemeProbeTarget> {
  const { right, other, unknown } = await signersOf(setup);
  return {
    url: setup.url,
    signer: right,
    specification: "RFC 9421 and RFC 9530",
    wrongSigners: [
      otherKey(other),
      {
        id: "keyid-unknown",
        title: "a request of an unknown keyid",
        means: "A key is chosen that the sender did not name.",
        fix: "Look the key up by keyid, and refuse what is not found.",
        signer: unknown,
      },
    ],
    wrongChanges: [
      changedProbe(
        "event-id-changed",
        "another event id than was signed",
        changedHeader("Webhook-Event-Id", newEventId),
      ),
      changedProbe(
        "alg-changed",
        "another alg than was signed",
        changedHeader("Signature-Input", (value) => value.replace(/alg="[^"]*"/, 'alg="rsa-pss-sha512"')),
      ),
      changedProbe(
        "created-changed",
        "another created than was signed",
        changedHeader("Signature-Input", (value) =>
          value.replace(/created=(\d+)/, (_, at) => `created=${Number(at) - 1}`),
        ),
      ),
    ],
  };
}

/** The sender's signer, one with another key under its name, and one with its key under another name. */
async function signersOf(
  setup: HttpSignatureSetup,
): Promise<Readonly<Record<"right" | "other" | "unknown", Signer>>> {
  if ("secret" in setup) {
    const { secret, keyId } = setup;
    return {
      right: httpSignatureSigner({ secret, keyId }),
      other: httpSignatureSigner({ secret: generateSecret(), keyId }),
      unknown: httpSignatureSigner({ secret, keyId: `${keyId}-other` }),
    };
  }
  const { key } = setup;
  return {
    right: httpSignatureSigner({ key }),
    other: httpSignatureSigner({ key: await keyLike(key) }),
    unknown: httpSignatureSigner({ key: { ...key, kid: `${key.kid}-other` } }),
  };
}
