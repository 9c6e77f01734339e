// The probes of Standard Webhooks.
import { namesOf } from "../../../schemes/standard-webhooks/key.js";
import {
  generateStandardSecret,
  type StandardWebhooksSecrets,
  standardWebhooksSigner,
} from "../../../schemes/standard-webhooks/sign.js";
import type { SchemeProbeTarget } from "../../probes/scheme-probes.js";
import { changedHeader, changedProbe, otherKey } from "../probe-rows.js";

const manyWrong = Array(100)
  .fill(`v1,${"A".repeat(43)}=`)
  .join(" ");

/** A listener's URL and what its sender has. */
export interface StandardWebhooksSetup {
  readonly scheme: "standard-webhooks";
  /** The listener's URL. */
  readonly url: string;
  /** `whsec_…`: one, or several. */
  readonly secrets: StandardWebhooksSecrets;
  /** How the headers are named: what stands before `-id`; `webhook` by default. */
  readonly headerNames?: "webhook" | "svix" | "x-webhook" | undefined;
  /** How the secrets are written: `prefixed` by default. */
  readonly secretForm?: "prefixed" | "base64" | "raw" | undefined;
  /** Also takes base64 with wrong padding or last bits; `false` by default. */
  readonly loosePadding?: boolean | undefined;
}

/** What a listener of Standard Webhooks is probed with. */
export function probeTarget({ scheme: _, url, ...agreed }: StandardWebhooksSetup): SchemeProbeTarget {
  const { headerNames } = agreed;
  const names = namesOf(headerNames);
  return {
    url,
    signer: standardWebhooksSigner(agreed),
    specification: "Standard Webhooks",
    wrongSigners: [otherKey(standardWebhooksSigner({ secrets: generateStandardSecret(), headerNames }))],
    wrongChanges: [
      changedProbe(
        "version-unknown",
        "a signature of an unknown version",
        changedHeader(names.signature, (value) => value.replace("v1,", "v9,")),
      ),
      changedProbe(
        "many-wrong-signatures",
        "a list of 100 wrong signatures",
        changedHeader(names.signature, () => manyWrong),
      ),
      changedProbe(
        "id-changed",
        "another id than was signed",
        changedHeader(names.id, () => "msg_other"),
      ),
    ],
  };
}
