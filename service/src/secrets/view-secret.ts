// Views the content of a paper secret (specification 4.1).
import { ApiError, invalidField, notFound } from "../api/errors.js";
import type { ApiRequest } from "../api/handlers.js";
import type { Schemas } from "../api/validation.js";
import type { ServiceContext } from "../server/service-context.js";
import { timestamp } from "../storage/document.js";
import { isObjectKey } from "../storage/object-store.js";
import type { PaperSecret } from "../storage/paper-secrets.js";
import { auditRecord } from "./audit-record.js";
import type { SecretTools } from "./create-secret.js";

/** Operation 4.1. What the reader gets is made first, so that a view is used up only by one that can be answered. */
export async function viewSecret(
  { storage, clock, secrets }: Pick<ServiceContext, "storage" | "clock" | "secrets">,
  { path, body, caller, clientIp }: ApiRequest<"viewSecret">,
): Promise<Schemas["SecretContent"]> {
  const { readerRecipient = "" } = body;
  if (readerRecipient !== "" && !(await secrets.vault.isRecipient(readerRecipient))) throw notARecipient();
  const secret = storage.paperSecrets.get(path.vault_id);
  if (!secret) throw notFound("secret");
  const record = (activity: Schemas["AuditActivity"]) =>
    storage.auditEvents.add(auditRecord(storage, activity, secret.id, { caller, clientIp }, clock));

  const isAllowed = caller.userId !== "" && secret.allowedUserIds.includes(caller.userId);
  if (secret.access === "INTERNAL" && !isAllowed) {
    record("paper_secret_access_denied");
    throw new ApiError("permission-denied", "The secret is not for this user.");
  }
  const content = await contentFor(secret, readerRecipient, caller.userId, secrets);
  const viewsRemaining = storage.db.transaction(() => {
    const left = storage.paperSecrets.takeView(secret.id, clock.now());
    if (left !== undefined) record(`paper_secret_opened${secret.access === "INTERNAL" ? "_internal" : ""}`);
    return left;
  });
  if (content === undefined || viewsRemaining === undefined) throw notFound("secret");
  return {
    ...content,
    createdAt: timestamp(secret.createdAt),
    creatorUserId: secret.creatorUserId,
    filename: secret.filename,
    inputFormat: secret.inputFormat,
    viewsRemaining,
  };
}

async function contentFor(
  { content }: PaperSecret,
  recipient: string,
  reader: string,
  { vault, objects }: SecretTools,
): Promise<Pick<Schemas["SecretContent"], "encryptedContent" | "downloadUrl" | "secretType"> | undefined> {
  if (content === undefined) return undefined;
  if ("objectKey" in content) {
    // A database of somebody else's may name anything: there is no such file.
    if (!isObjectKey(content.objectKey)) return undefined;
    const downloadUrl = await objects.downloadUrl(content.objectKey, reader);
    return { downloadUrl, secretType: "SECRET_TYPE_FILE" };
  }
  const encryptedContent = await vault.sealFor(recipient, content.ciphertext);
  if (encryptedContent === undefined) throw notARecipient();
  return { encryptedContent, secretType: "SECRET_TYPE_TEXT" };
}

function notARecipient(): ApiError {
  return invalidField("readerRecipient", "must be an age recipient, age1… or age1pq1…");
}
