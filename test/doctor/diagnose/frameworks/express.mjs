import { createHmac, timingSafeEqual } from "node:crypto";
import express from "express";

const { LISTENER_SECRET = "", PORT, LISTENER } = process.env;

// --- page
function isSigned(headers, body) {
  const mac = createHmac("sha256", LISTENER_SECRET);
  mac.update(`${headers["webhook-timestamp"]}.${headers["webhook-event-id"]}.`).update(body);
  const [right, sent] = [mac.digest("base64url"), headers["webhook-signature"] ?? ""];
  return right.length === sent.length && timingSafeEqual(Buffer.from(right), Buffer.from(sent));
}

const app = express();
app.post("/api/v1/webhooks/incoming/:id", express.raw({ type: "*/*" }), (req, res) => {
  res.sendStatus(isSigned(req.headers, req.body) ? 200 : 401);
});
app.use(express.json()); // for the other routes: after the listener
// ---

const wrong = express();
wrong.use(express.json());
wrong.post("/api/v1/webhooks/incoming/:id", (req, res) => {
  res.sendStatus(isSigned(req.headers, JSON.stringify(req.body)) ? 200 : 401);
});

(LISTENER === "wrong" ? wrong : app).listen(PORT, "127.0.0.1");
