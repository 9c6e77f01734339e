import { createHmac, randomUUID } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

/** In what one release of the tenant differs from another. */
export interface Release {
  /** Whether it looks at the signature before anything else. */
  readonly proofFirst?: boolean;
  /** The word it has for a wrong signature. */
  readonly wrongProof?: string;
  /** Whether it says when to try again. */
  readonly saysWhen?: boolean;
}

/** A listener that is not ours: other statuses, other bodies, another order of checks, and ids and times in them. */
export async function startTenant(
  secret: string,
  { proofFirst = true, wrongProof = "bad_signature", saysWhen = true }: Release = {},
): Promise<string> {
  const seen = new Set<string>();
  const server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on("data", (chunk: Buffer) => chunks.push(chunk));
    req.on("end", () => {
      const body = Buffer.concat(chunks);
      const [stamp, id] = [req.headers["webhook-timestamp"], req.headers["webhook-event-id"]];
      const given = req.headers["webhook-signature"];
      const refuse = (status: number, code: string, more: Record<string, string> = {}) => {
        res.writeHead(status, { "Content-Type": "application/problem+json", ...more });
        const at = new Date().toString();
        res.end(
          JSON.stringify({
            error: { code, message: `${code.replace("_", " ")}, seen ${given} at ${at}` },
            request_id: randomUUID(),
            tookMs: Math.floor(Math.random() * 900),
            now: Date.now(),
          }),
        );
        return false;
      };
      const expected = createHmac("sha256", secret)
        .update(`${stamp}.${id}.`)
        .update(body)
        .digest("base64url");
      const checks = {
        proof: () => given === expected || refuse(401, wrongProof, { "WWW-Authenticate": "Hmac" }),
        time: () => Math.abs(Date.now() / 1000 - Number(stamp)) <= 300 || refuse(422, "bad_time"),
      };
      if (req.method !== "POST") return void res.writeHead(405, { Allow: "POST" }).end("Only POST.\n");
      if (body.length > 65_536)
        return void refuse(
          413,
          "too_large",
          saysWhen ? { "Retry-After": String(20 + (Date.now() % 9)) } : {},
        );
      const order = proofFirst ? [checks.proof, checks.time] : [checks.time, checks.proof];
      if (!order.every((check) => check())) return;
      if (typeof id !== "string" || seen.has(id)) return void refuse(409, "seen_before");
      seen.add(id);
      res.writeHead(202, { "Content-Type": "application/json" }).end('{"accepted":true}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => new Promise<void>((resolve) => void server.close(() => resolve())));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1/webhooks/incoming/lst_tenant`;
}
