// Writes what the audit says of a caller.
import type { Clock } from "hookproof";
import type { Principal } from "../auth/principal.js";
import type { AuditRecord } from "../storage/audit-events.js";
import type { Users } from "../storage/users.js";

/** What the audit says of something a caller did now. */
export function auditRecord(
  { users }: { users: Users },
  activity: AuditRecord["activity"],
  vaultId: string,
  { caller, clientIp }: { caller: Pick<Principal, "userId">; clientIp: string },
  clock: Clock,
): AuditRecord {
  const actorUserId = caller.userId;
  return {
    activity,
    vaultId,
    actorUserId,
    actorEmail: users.get(actorUserId)?.email ?? "",
    clientIp,
    at: clock.now(),
  };
}
