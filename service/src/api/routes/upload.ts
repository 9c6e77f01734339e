// The upload of a paper secret's file, which may be larger than memory.
import express, { type Router } from "express";
import { receivedRequest } from "hookproof/node";
import { auditRecord } from "../../secrets/audit-record.js";
import { prepareSecret } from "../../secrets/create-secret.js";
import { sendJson } from "../../server/send-json.js";
import type { ServiceContext } from "../../server/service-context.js";
import { newId } from "../../storage/ids.js";
import { invalidField } from "../errors.js";
import { type AdmissionContext, admitted } from "../mount.js";
import type { operations } from "../openapi.js";
import { operation } from "../operations.js";
import { unknownNames } from "../unknown-names.js";
import { queryValues, refuse } from "../validation.js";
import { requireUser } from "./require-user.js";

type Query = operations["uploadSecretFile"]["parameters"]["query"];

/** A body that breaks off is its sender's doing. */
async function* whole(body: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  try {
    yield* body;
  } catch {
    throw invalidField("body", "ended early");
  }
}

/** What the upload needs of the service. */
type UploadContext = AdmissionContext & Pick<ServiceContext, "secrets" | "clock" | "unknownFields">;

/** The upload of a paper secret's file, whose body is no JSON and may be larger than memory. */
export function uploadRouter(context: UploadContext): Router {
  const upload = operation("uploadSecretFile");
  const { storage, secrets, clock } = context;
  const router = express.Router({ caseSensitive: true, strict: true });
  router.post(upload.path, async (req, res) => {
    const caller = await admitted(upload, context, req, res);
    if (!caller) return;
    const query = queryValues(upload.queryParameters, req.query) as Query;
    if (context.unknownFields === "refuse") refuse(unknownNames(upload, req.query, undefined));
    const { filename, creatorUserId = caller.userId, access, views } = query;
    requireUser(storage, "creatorUserId", creatorUserId);
    const id = newId();
    const content = whole(receivedRequest(req).body);
    const secret = await prepareSecret(secrets, {
      id,
      createdAt: clock.now(),
      creatorUserId,
      access,
      views,
      upload: { filename, content },
    });
    const by = { caller, clientIp: req.socket.remoteAddress ?? "" };
    storage.db.transaction(() => {
      requireUser(storage, "creatorUserId", creatorUserId);
      storage.paperSecrets.add(secret);
      storage.auditEvents.add(auditRecord(storage, "paper_secret_created", id, by, clock));
    });
    sendJson(200, { id }, req, res);
  });
  return router;
}
