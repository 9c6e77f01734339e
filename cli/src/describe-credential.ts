import type { CredentialReference } from "./history-record.js";

/** Where the secret or key of a recorded event came from, in words. */
export function describeCredential(credential: CredentialReference): string {
  switch (credential.kind) {
    case "session":
      return `secret of the local listener on port ${credential.port}`;
    case "secret-files":
      return `secret in ${credential.files.join(", ")}`;
    case "environment":
      return `secret in HOOKPROOF_SECRET${credential.fingerprint ? ` (${credential.fingerprint}…)` : ""}`;
    case "profile":
      return `stored secret of profile ${credential.profile}${credential.project ? ` of ${credential.project}` : ""}`;
    case "key":
      return `key ${credential.key} in ${credential.store}`;
  }
}
