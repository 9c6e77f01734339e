import { createHmac, timingSafeEqual } from "node:crypto";

/** Whether a body is signed; what the page shows for Express. */
export function isSigned(headers, body) {
  const mac = createHmac("sha256", process.env.LISTENER_SECRET ?? "");
  mac.update(`${headers["webhook-timestamp"]}.${headers["webhook-event-id"]}.`).update(body);
  const [right, sent] = [mac.digest("base64url"), headers["webhook-signature"] ?? ""];
  return right.length === sent.length && timingSafeEqual(Buffer.from(right), Buffer.from(sent));
}
