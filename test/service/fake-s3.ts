import { execFileSync } from "node:child_process";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { hasTool } from "../support/outside-tool.js";

const PYTHON = "/usr/bin/python3";

/** Whether the fake S3 can check signatures: Python does that, with its own hmac. */
export const hasPython = hasTool(PYTHON, "-c", "import hmac");

/** A store of objects that speaks as much of S3 as paper secrets need, and refuses what is not signed for it. */
export interface FakeS3 {
  readonly endpoint: string;
  readonly objects: Map<string, Buffer>;
  stop(): Promise<void>;
}

export async function startFakeS3(secretAccessKey: string, now: () => number): Promise<FakeS3> {
  const objects = new Map<string, Buffer>();
  const server = createServer(async (request, response) => {
    const body = await bytesOf(request);
    const verdict = checked(request, body, secretAccessKey, now());
    const path = request.url?.split("?", 1)[0] ?? "";
    if (!verdict.ok) response.writeHead(403).end("SignatureDoesNotMatch");
    else if (verdict.expired) response.writeHead(403).end("Request has expired");
    else if (request.method === "PUT") response.writeHead(200).end(void objects.set(path, body));
    else if (objects.has(path)) response.writeHead(200).end(objects.get(path));
    else response.writeHead(404).end("NoSuchKey");
  }).listen(0, "127.0.0.1");
  await new Promise((done) => server.once("listening", done));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    objects,
    stop: () => new Promise((done) => server.close(() => done())),
  };
}

async function bytesOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

function checked(
  { method, url, headers }: IncomingMessage,
  body: Buffer,
  secretAccessKey: string,
  now: number,
): { ok: boolean; expired: boolean } {
  const input = {
    method,
    url: `http://${headers.host}${url}`,
    headers,
    bodyHex: body.toString("hex"),
    secretAccessKey,
    now: now / 1000,
  };
  const script = fileURLToPath(new URL("check_sigv4.py", import.meta.url));
  try {
    return JSON.parse(
      execFileSync(PYTHON, [script], {
        input: JSON.stringify(input),
        encoding: "utf8",
        stdio: ["pipe", "pipe", "ignore"],
      }),
    );
  } catch {
    return { ok: false, expired: false };
  }
}
