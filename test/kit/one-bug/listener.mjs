// A listener in Node with one bug, which BUG names: node listener.mjs; it prints its port.
import { createHmac } from "node:crypto";
import { createServer } from "node:http";

const { BUG: bug, SECRET: secret } = process.env;
const UUID4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;

function inWindow(timestamp) {
  if (bug === "no-window") return true;
  const now = bug === "milliseconds" ? Date.now() : Date.now() / 1000;
  return Math.abs(now - Number(timestamp)) <= (bug === "milliseconds" ? 300_000 : 300);
}

function status({ method, url, headers }, body) {
  if (url !== "/api/v1/webhooks/incoming/lst_1") return 404;
  if (method !== "POST") return 405;
  const timestamp = headers["webhook-timestamp"] ?? "";
  const eventId = headers["webhook-event-id"] ?? "";
  if (!/^[1-9][0-9]{0,15}$/.test(timestamp) || !inWindow(timestamp) || !UUID4.test(eventId)) return 400;
  let signed = body;
  try {
    if (bug === "stringify") signed = JSON.stringify(JSON.parse(body));
    if (bug === "object") signed = String(JSON.parse(body));
  } catch {
    return 400;
  }
  const input =
    bug === "no-separator" ? [timestamp, eventId, signed] : [timestamp, ".", eventId, ".", signed];
  const mac = createHmac(bug === "sha512" ? "sha512" : "sha256", secret);
  for (const part of input) mac.update(part);
  if (mac.digest("base64url") !== headers["webhook-signature"]) return 401;
  if (!/^application\/json/.test(headers["content-type"] ?? "")) return 415;
  try {
    JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
    return 200;
  } catch {
    return 400;
  }
}

const server = createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  response.writeHead(status(request, Buffer.concat(chunks)), { "X-Powered-By": "Express" }).end();
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
