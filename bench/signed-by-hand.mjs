// A request as people sign and send it by hand, with Node alone: no checks, no time limits, no retry.
import { createHmac } from "node:crypto";
import { Agent, request } from "node:http";

const CONTENT = { "Content-Type": "application/json" };

/** The headers of an event with the signature of this moment. */
export function signedHeaders(secret, id, body) {
  const timestamp = String(Math.floor(Date.now() / 1000));
  const mac = createHmac("sha256", secret).update(`${timestamp}.${id}.`).update(body);
  return {
    ...CONTENT,
    "Webhook-Event-Id": id,
    "Webhook-Timestamp": timestamp,
    "Webhook-Signature": mac.digest("base64url"),
  };
}

/** Posts bytes over kept connections, and resolves when the answer has been read. */
export function poster(url) {
  const agent = new Agent({ keepAlive: true });
  const { hostname: host, port, pathname: path } = new URL(url);
  return {
    post: (bytes, headers = CONTENT) =>
      new Promise((resolve, reject) => {
        const sent = request({
          host,
          port,
          path,
          method: "POST",
          agent,
          headers: { ...headers, "Content-Length": bytes.length },
        });
        sent.on("response", (response) => response.on("data", () => {}).on("end", resolve));
        sent.on("error", reject);
        sent.end(bytes);
      }),
    close: () => agent.destroy(),
  };
}
