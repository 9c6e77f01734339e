// Operations on paper secrets and their audit (specification 4.1 and 4.6).
import { auditRecord } from "../../secrets/audit-record.js";
import { prepareSecret } from "../../secrets/create-secret.js";
import { viewSecret } from "../../secrets/view-secret.js";
import type { ServiceContext } from "../../server/service-context.js";
import type { AuditPosition } from "../../storage/audit-events.js";
import { BEFORE_ALL } from "../../storage/document.js";
import { newId } from "../../storage/ids.js";
import { notFound } from "../errors.js";
import type { Handlers } from "../handlers.js";
import { requireUser } from "./require-user.js";

/** Operations 4.1 and 4.6, and the local administration of paper secrets. */
export function secretHandlers(
  context: Pick<ServiceContext, "storage" | "pageTokens" | "clock" | "secrets">,
): Pick<Handlers, "viewSecret" | "searchSecretAuditEvents" | "createSecret" | "revokeSecret"> {
  const { storage, pageTokens, clock, secrets } = context;
  return {
    viewSecret: (request) => viewSecret(context, request),
    searchSecretAuditEvents({ body }) {
      const { vaultId = "", actorUserId = "", actorEmail = "", clientIp = "" } = body;
      const filter = { vaultId, actorUserId, actorEmail, clientIp };
      const { list, nextPageToken } = pageTokens.page({
        of: ["searchSecretAuditEvents", filter],
        pageSize: body.pageSize,
        pageToken: body.pageToken,
        start: [BEFORE_ALL, 0] as AuditPosition,
        find: (after, limit) => storage.auditEvents.search(filter, after, limit),
        position: ({ position }) => position,
      });
      return { list: list.map(({ event }) => event), nextPageToken };
    },
    async createSecret({ body, caller, clientIp }) {
      // Named one by one: whatever else a body holds is not taken over.
      const { creatorUserId = caller.userId, access, allowedUserIds, text, file } = body;
      const { inputFormat, views, expiresAt } = body;
      requireUser(storage, "creatorUserId", creatorUserId);
      for (const [index, userId] of (allowedUserIds ?? []).entries())
        requireUser(storage, `allowedUserIds[${index}]`, userId);
      const id = newId();
      const secret = await prepareSecret(secrets, {
        id,
        createdAt: clock.now(),
        creatorUserId,
        access,
        allowedUserIds,
        text,
        file,
        inputFormat,
        views,
        expiresAt,
      });
      storage.db.transaction(() => {
        requireUser(storage, "creatorUserId", creatorUserId);
        storage.paperSecrets.add(secret);
        storage.auditEvents.add(
          auditRecord(storage, "paper_secret_created", id, { caller, clientIp }, clock),
        );
      });
      return { id };
    },
    revokeSecret({ path, caller, clientIp }) {
      storage.db.transaction(() => {
        if (!storage.paperSecrets.revoke(path.vault_id, clock.now())) throw notFound("secret");
        storage.auditEvents.add(
          auditRecord(storage, "paper_secret_revoked_admin", path.vault_id, { caller, clientIp }, clock),
        );
      });
      return {};
    },
  };
}
