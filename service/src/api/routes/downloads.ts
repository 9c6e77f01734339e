// Downloads of stored files by signed URL.
import { pipeline } from "node:stream/promises";
import express, { type Router } from "express";
import { auditRecord } from "../../secrets/audit-record.js";
import type { ServiceContext } from "../../server/service-context.js";
import type { LocalObjects } from "../../storage/local-objects.js";
import { notFound } from "../errors.js";

/** Where the local object store's files are downloaded from. */
export const DOWNLOADS_PATH = "/local/v1/objects";

/** Downloads by signed URL. A file came encrypted and goes out as bytes that no browser shows. */
export function downloadRouter(
  objects: LocalObjects,
  { storage, clock }: Pick<ServiceContext, "storage" | "clock">,
): Router {
  const router = express.Router({ caseSensitive: true, strict: true });
  router.get(`${DOWNLOADS_PATH}/:key`, async (req, res) => {
    const download = await objects.open(req.params.key, req.query);
    // An address is good for no longer than the secret that it was made for.
    if (!download || !storage.paperSecrets.isOpen(download.key, clock.now())) throw notFound("download");
    const caller = { userId: download.reader };
    const clientIp = req.socket.remoteAddress ?? "";
    storage.auditEvents.add(
      auditRecord(storage, "paper_secret_file_downloaded", download.key, { caller, clientIp }, clock),
    );
    res.set({
      "Cache-Control": "no-store",
      "Content-Disposition": "attachment",
      "Content-Length": download.bytes,
      "Content-Type": "application/octet-stream",
      "X-Content-Type-Options": "nosniff",
    });
    // Who breaks off is not answered; neither is who waits for a file that cannot be read any more.
    await pipeline(download.content, res).catch(() => res.destroy());
  });
  return router;
}
