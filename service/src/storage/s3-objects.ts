// An object store in a bucket that speaks S3.
import { AwsClient } from "aws4fetch";
import type { Clock } from "hookproof";
import { ServiceFault } from "../server/log.js";
import {
  boundedContent,
  type Content,
  DOWNLOAD_VALID_SECONDS,
  isObjectKey,
  OBJECT_KEY_WORDS,
  type ObjectStore,
} from "./object-store.js";

/** A bucket of any store that speaks S3. */
export interface S3Options {
  /** Such as `https://s3.eu-central-1.amazonaws.com` or `http://127.0.0.1:9000`. */
  endpoint: string;
  bucket: string;
  /** `us-east-1` by default, which stores without regions take. */
  region?: string | undefined;
  accessKeyId: string;
  secretAccessKey: string;
}

/** What one request to the store may take: a part of a file, and not the whole of it. */
const TIMEOUT_MS = 10_000;
const RETRIES = 2;
/** The smallest that S3 takes as a part. A file has 10,000 of them at most, 48 GiB. */
const PART_BYTES = 5 * 2 ** 20;
/** How much of an answer is looked at, in characters. */
const MAX_ANSWER = 65_536;

/**
 * Keeps objects in an S3 bucket; download URLs are presigned. Buckets are addressed by path, which every store takes.
 * What is longer than a part is sent part by part as it arrives, so that one part of it is in memory.
 */
export function createS3Objects(options: S3Options, clock: Clock): ObjectStore {
  return new S3Objects(options, clock);
}

class S3Objects implements ObjectStore {
  readonly #client: AwsClient;
  readonly #base: URL;
  readonly #clock: Clock;

  constructor(
    { endpoint, bucket, region = "us-east-1", accessKeyId, secretAccessKey }: S3Options,
    clock: Clock,
  ) {
    this.#client = new AwsClient({ accessKeyId, secretAccessKey, region, service: "s3", retries: RETRIES });
    this.#base = new URL(
      `${encodeURIComponent(bucket)}/`,
      endpoint.endsWith("/") ? endpoint : `${endpoint}/`,
    );
    this.#clock = clock;
  }

  async put(key: string, content: Content): Promise<void> {
    const object = this.#addressOf(key);
    let upload: Upload | undefined;
    try {
      for await (const part of inParts(content)) {
        if (!upload && part.length < PART_BYTES) return void (await this.#ask("PUT", object, part));
        upload ??= await this.#beginUpload(object);
        await upload.add(part);
      }
      await upload?.complete();
    } catch (error) {
      await upload?.abort().catch(() => {}); // the reason of the failure is what counts
      throw error;
    }
  }

  async read(key: string, max: number) {
    if (!isObjectKey(key)) return undefined;
    const response = await this.#client.fetch(this.#addressOf(key).href, {
      signal: AbortSignal.timeout(TIMEOUT_MS),
      aws: { datetime: this.#datetime() },
      redirect: "manual",
    });
    if (response.ok) return boundedContent(response.body ?? emptyBody(), max);
    await response.body?.cancel();
    if (response.status === 404) return undefined;
    throw new ServiceFault(`the object store answered ${response.status}`);
  }

  async downloadUrl(key: string): Promise<string> {
    const url = at(this.#addressOf(key), { "X-Amz-Expires": String(DOWNLOAD_VALID_SECONDS) });
    const aws = { signQuery: true, datetime: this.#datetime() };
    return (await this.#client.sign(url.href, { aws })).url;
  }

  #datetime(): string {
    return new Date(this.#clock.now()).toISOString().replace(/[:-]|\.\d{3}/g, "");
  }

  /** Where an object is: any other key could be the address of another server. */
  #addressOf(key: string): URL {
    if (!isObjectKey(key)) throw new RangeError(`an object's key is ${OBJECT_KEY_WORDS}`);
    return new URL(key, this.#base);
  }

  /** The header ETag and the body of what the store answers. */
  async #ask(
    method: string,
    url: URL,
    body?: Uint8Array<ArrayBuffer> | string,
  ): Promise<{ etag: string; text: string }> {
    const response = await this.#client.fetch(url.href, {
      method,
      body: body ?? null,
      headers: { "Content-Type": "application/octet-stream" },
      signal: AbortSignal.timeout(TIMEOUT_MS),
      aws: { datetime: this.#datetime() },
      // Another server would be given the content.
      redirect: "manual",
    });
    const text = await beginningOf(response);
    if (!response.ok) throw new ServiceFault(`the object store answered ${response.status}`);
    return { etag: response.headers.get("ETag") ?? "", text };
  }

  async #beginUpload(object: URL): Promise<Upload> {
    const { text } = await this.#ask("POST", at(object, { uploads: "" }));
    const [, uploadId] = /<UploadId>([^<&]+)<\/UploadId>/.exec(text) ?? [];
    if (uploadId === undefined) throw new ServiceFault("the object store began no upload");
    const upload = at(object, { uploadId });
    const parts: string[] = [];
    return {
      add: async (part) => {
        const partNumber = String(parts.length + 1);
        const { etag } = await this.#ask("PUT", at(upload, { partNumber }), part);
        parts.push(`<Part><PartNumber>${partNumber}</PartNumber><ETag>${xmlText(etag)}</ETag></Part>`);
      },
      complete: async () => {
        const list = `<CompleteMultipartUpload>${parts.join("")}</CompleteMultipartUpload>`;
        const answer = await this.#ask("POST", upload, list);
        // A store that takes long to put them together answers 200 before it knows.
        if (answer.text.includes("<Error>")) throw new ServiceFault("the object store refused an upload");
      },
      abort: () => this.#ask("DELETE", upload),
    };
  }
}

async function* emptyBody(): AsyncGenerator<Uint8Array> {}

/** The beginning of an answer, which may have no end. */
async function beginningOf({ body }: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length >= MAX_ANSWER) break;
  }
  return text;
}

/** An object that is sent in parts. */
interface Upload {
  add(part: Uint8Array<ArrayBuffer>): Promise<void>;
  complete(): Promise<void>;
  abort(): Promise<unknown>;
}

/** Parts of one length, and the rest; a part is good until the next one is asked for. Nothing is one part without bytes. */
async function* inParts(content: Content): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const part = new Uint8Array(PART_BYTES);
  let [length, isFirst] = [0, true];
  for await (const chunk of content instanceof Uint8Array ? [content] : content) {
    for (let at = 0; at < chunk.length; ) {
      const taken = chunk.subarray(at, at + PART_BYTES - length);
      part.set(taken, length);
      at += taken.length;
      length += taken.length;
      if (length < PART_BYTES) continue;
      yield part;
      [length, isFirst] = [0, false];
    }
  }
  if (length > 0 || isFirst) yield part.subarray(0, length);
}

function at(url: URL, query: Readonly<Record<string, string>>): URL {
  const copy = new URL(url);
  for (const [name, value] of Object.entries(query)) copy.searchParams.set(name, value);
  return copy;
}

function xmlText(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}
