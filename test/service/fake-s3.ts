import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { hasTool } from "../kit/outside-tool.js";

const PYTHON = "/usr/bin/python3";

/** Whether the fake S3 can check signatures: Python does that, with its own hmac. */
export const hasPython = hasTool(PYTHON, "-c", "import hmac");

/** A store of objects that speaks as much of S3 as paper secrets need, and refuses what is not signed for it. */
export interface FakeS3 {
  readonly endpoint: string;
  readonly objects: Map<string, Buffer>;
  /** The parts of objects that are neither complete nor given up. */
  readonly uploads: Map<string, Map<string, Buffer>>;
  /** How many bytes each request to store something had. */
  readonly sizes: readonly number[];
  stop(): Promise<void>;
}

export async function startFakeS3(secretAccessKey: string, now: () => number): Promise<FakeS3> {
  const objects = new Map<string, Buffer>();
  const uploads = new Map<string, Map<string, Buffer>>();
  const sizes: number[] = [];
  const server = createServer(async (request, response) => {
    const body = await bytesOf(request);
    if (request.method === "PUT") sizes.push(body.length);
    const verdict = checked(request, body, secretAccessKey, now());
    const { pathname: path, searchParams: query } = new URL(request.url ?? "", "http://s3");
    const uploadId = query.get("uploadId") ?? "";
    const parts = uploads.get(uploadId);
    const etag = createHash("md5").update(body).digest("hex");
    if (!verdict.ok) response.writeHead(403).end("SignatureDoesNotMatch");
    else if (verdict.expired) response.writeHead(403).end("Request has expired");
    else if (query.has("uploads")) {
      const id = `${path}&${uploads.size}`.replaceAll(/[^a-z0-9]/gi, "~");
      uploads.set(id, new Map());
      response.end(
        `<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`,
      );
    } else if (uploadId !== "" && !parts) response.writeHead(404).end("NoSuchUpload");
    else if (parts && request.method === "PUT") {
      parts.set(`${query.get("partNumber")} "${etag}"`, body);
      response.writeHead(200, { ETag: `"${etag}"` }).end();
    } else if (parts) {
      uploads.delete(uploadId);
      if (request.method === "POST") objects.set(path, joined(parts, body.toString()));
      response.end();
    } else if (request.method === "PUT") response.writeHead(200).end(void objects.set(path, body));
    else if (objects.has(path)) response.writeHead(200).end(objects.get(path));
    else response.writeHead(404).end("NoSuchKey");
  }).listen(0, "127.0.0.1");
  await new Promise((done) => server.once("listening", done));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    objects,
    uploads,
    sizes,
    stop: () => new Promise((done) => server.close(() => done())),
  };
}

/** The parts in the order of the list that completes an upload; all but the last have the size that S3 asks for. */
function joined(parts: ReadonlyMap<string, Buffer>, list: string): Buffer {
  const names = [...list.matchAll(/<Part><PartNumber>(\d+)<\/PartNumber><ETag>(.*?)<\/ETag><\/Part>/g)];
  const found = names.map(([, number, etag]) => parts.get(`${number} ${etag}`) ?? Buffer.alloc(0));
  if (found.slice(0, -1).some(({ length }) => length < 5 * 2 ** 20)) throw new Error("EntityTooSmall");
  return Buffer.concat(found);
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
    bodySha256: createHash("sha256").update(body).digest("hex"),
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
