import express, { type Router } from "express";
import type { Storage } from "../storage/storage.js";

/** `/healthz`: the process answers. `/readyz`: its database does too. */
export function healthRouter({ db }: Storage): Router {
  const router = express.Router();
  router.get("/healthz", (_req, res) => void res.json({ status: "ok" }));
  router.get("/readyz", (_req, res) => {
    try {
      db.prepare("SELECT 1").all();
      res.json({ status: "ready" });
    } catch {
      res.status(503).json({ status: "the database does not answer" });
    }
  });
  return router;
}
