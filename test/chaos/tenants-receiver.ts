import { createHash, createHmac } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { SeenRequest } from "./chaos-receiver.js";
import { lapses } from "./lapses.js";
import type { Hindrance } from "./outbox-judge.js";

/** A request at a tenant's own URL. */
export interface TenantRequest extends SeenRequest {
  readonly tenant: string;
  /** The place of the secret that signed it in the order of its tenant's secrets; -1 if none did. */
  readonly secretIndex: number;
}

/** All tenants' listeners: each runs an event once, and takes whatever secret its tenant ever had. */
export interface TenantsReceiver {
  readonly requests: readonly TenantRequest[];
  readonly runs: readonly { readonly id: string; readonly body: string }[];
  /** When this process was let do nothing. */
  readonly standstills: readonly Hindrance[];
  url(tenant: string): string;
  stop(): Promise<void>;
}

/** @param secrets all secrets of each tenant, the newest last */
export async function tenantsReceiver(
  secrets: ReadonlyMap<string, readonly string[]>,
  answerMs: () => number,
): Promise<TenantsReceiver> {
  const requests: TenantRequest[] = [];
  const runs: { id: string; body: string }[] = [];
  const taken = new Set<string>();
  const lapse = lapses();
  const server = createServer(async (request, response) => {
    const at = performance.now();
    const { headers, url = "" } = request;
    const id = String(headers["webhook-event-id"]);
    const tenant = url.slice(url.lastIndexOf("lst_") + 4);
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request) chunks.push(chunk as Buffer);
    } catch {
      return; // its sender has gone
    }
    const body = Buffer.concat(chunks);
    const input = Buffer.concat([Buffer.from(`${headers["webhook-timestamp"]}.${id}.`), body]);
    const signedBy = (secret: string) =>
      createHmac("sha256", secret).update(input).digest("base64url") === headers["webhook-signature"];
    const secretIndex = (secrets.get(tenant) ?? []).findLastIndex(signedBy);
    const ran = secretIndex >= 0 && !taken.has(id);
    if (ran) {
      taken.add(id);
      runs.push({ id, body: body.toString() });
    }
    const status = secretIndex < 0 ? 401 : ran ? 200 : 409;
    const digest = createHash("sha256").update(body).digest("base64url");
    const seen: { -readonly [Field in keyof TenantRequest]: TenantRequest[Field] } = {
      ...{ id, tenant, secretIndex, at, digest, ran, listener: "taking", open: 1 },
      ...{ dispatcher: Number(headers["x-worker"]), asksToWait: false, isKnown: false },
    };
    requests.push(seen);
    response.on("finish", () => {
      seen.isKnown = performance.now() - at < 300 && lapse.isOver(at); // later it may have met a sender that had given up
    });
    setTimeout(() => {
      Object.assign(seen, { status, answeredAt: performance.now() });
      response.statusCode = status;
      response.end();
    }, answerMs());
  });
  server.on("connection", (socket) => socket.on("error", () => {}));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    requests,
    runs,
    standstills: lapse.standstills,
    url: (tenant) => `http://127.0.0.1:${port}/api/v1/webhooks/incoming/lst_${tenant}`,
    async stop() {
      lapse.stop();
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}
