import { AwsClient } from "aws4fetch";
import type { Clock } from "hookproof";
import { ServiceFault } from "../log.js";
import { DOWNLOAD_VALID_SECONDS, type ObjectStore } from "./object-store.js";

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

const TIMEOUT_MS = 10_000;
const RETRIES = 2;

/** Keeps objects in an S3 bucket; download URLs are presigned. Buckets are addressed by path, which every store takes. */
export function createS3Objects(
  { endpoint, bucket, region = "us-east-1", accessKeyId, secretAccessKey }: S3Options,
  clock: Clock,
): ObjectStore {
  const client = new AwsClient({ accessKeyId, secretAccessKey, region, service: "s3", retries: RETRIES });
  const base = new URL(`${encodeURIComponent(bucket)}/`, endpoint.endsWith("/") ? endpoint : `${endpoint}/`);
  const datetime = () => new Date(clock.now()).toISOString().replace(/[:-]|\.\d{3}/g, "");

  return {
    async put(key, content) {
      const response = await client.fetch(new URL(key, base).href, {
        method: "PUT",
        body: content as Uint8Array<ArrayBuffer>,
        headers: { "Content-Type": "application/octet-stream" },
        signal: AbortSignal.timeout(TIMEOUT_MS),
        aws: { datetime: datetime() },
      });
      await response.body?.cancel();
      if (!response.ok) throw new ServiceFault(`the object store answered ${response.status}`);
    },
    async downloadUrl(key) {
      const url = new URL(key, base);
      url.searchParams.set("X-Amz-Expires", String(DOWNLOAD_VALID_SECONDS));
      const request = await client.sign(url.href, { aws: { signQuery: true, datetime: datetime() } });
      return request.url;
    },
  };
}
