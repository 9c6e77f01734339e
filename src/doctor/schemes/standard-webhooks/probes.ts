// The probes of Standard Webhooks.
import {
  generateStandardSecret,
  ID_HEADER,
  SIGNATURE_HEADER,
  standardWebhooksSigner,
} from "../../../schemes/standard-webhooks/sign.js";
import type { SchemeProbeTarget } from "../../probes/scheme-probes.js";
import type { SchemeSetups } from "../by-name.js";
import { changedHeader, changedProbe, otherKey } from "../probe-rows.js";

const manyWrong = Array(100)
  .fill(`v1,${"A".repeat(43)}=`)
  .join(" ");

/** What a listener of Standard Webhooks is probed with. */
export function probeTarget({ url, secrets }: SchemeSetups["standard-webhooks"]): SchemeProbeTarget {
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
