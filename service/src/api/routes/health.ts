// Answers whether the service is well.
import express, { type Router } from "express";
import { sendJson } from "../../server/send-json.js";
import type { Storage } from "../../storage/storage.js";

/** `/healthz`: the process answers. `/readyz`: its database does too. */
export function healthRouter({ db }: Storage): Router {
  const router = express.Router();
  router.get("/healthz", (req, res) => sendJson(200, { status: "ok" }, req, res));
  router.get("/readyz", (req, res) => {
    try {
      db.prepare("SELECT 1").all();
      sendJson(200, { status: "ready" }, req, res);
    } catch {
      sendJson(503, { status: "the database does not answer" }, req, res);
    }
  });
  return router;
}
