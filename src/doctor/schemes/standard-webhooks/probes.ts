// The probes of Standard Webhooks.
import {
  generateStandardSecret,
  ID_HEADER,
  SIGNATURE_HEADER,
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
}

/** What a listener of Standard Webhooks is probed with. */
export function probeTarget({ url, secrets }: StandardWebhooksSetup): SchemeProbeTarget {
  return {
    url,
    signer: standardWebhooksSigner({ secrets }),
    specification: "Standard Webhooks",
    wrongSigners: [otherKey(standardWebhooksSigner({ secrets: generateStandardSecret() }))],
    wrongChanges: [
      changedProbe(
        "version-unknown",
        "a signature of an unknown version",
        changedHeader(SIGNATURE_HEADER, (value) => value.replace("v1,", "v9,")),
      ),
      changedProbe(
        "many-wrong-signatures",
        "a list of 100 wrong signatures",
        changedHeader(SIGNATURE_HEADER, () => manyWrong),
      ),
      changedProbe(
        "id-changed",
        "another id than was signed",
        changedHeader(ID_HEADER, () => "msg_other"),
      ),
    ],
  };
}
