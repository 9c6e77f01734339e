import { AwsClient } from "aws4fetch";
import { HookproofError } from "hookproof";
import type { KeySetUpload } from "hookproof/node";
import { CliError, EXIT, usageError } from "../failure.js";
import type { Io } from "../io.js";

/** Where in a store that speaks S3 the document goes. */
export interface S3Place {
  /** `s3://bucket/key`. */
  readonly place: string;
  /** Such as `http://127.0.0.1:9000`; Amazon's own by default. */
  readonly endpoint: string | undefined;
  readonly region: string | undefined;
  readonly maxAgeSeconds: number;
}

/**
 * Uploads to a bucket of any store that speaks S3, with the headers a key set needs. The bucket is addressed by path,
 * which every store takes; the credentials come from the variables that every S3 tool reads.
 */
export function s3Upload({ env }: Io, { place, endpoint, region, maxAgeSeconds }: S3Place): KeySetUpload {
  const [, bucket, key] = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,62})\/([A-Za-z0-9._~/-]+)$/.exec(place) ?? [];
  if (bucket === undefined || key === undefined)
    throw usageError(`--s3 must be s3://bucket/key, not ${JSON.stringify(place)}.`);
  const [accessKeyId, secretAccessKey] = [env.AWS_ACCESS_KEY_ID, env.AWS_SECRET_ACCESS_KEY];
  if (!accessKeyId || !secretAccessKey)
    throw new CliError(EXIT.setup, "S3_CREDENTIALS_MISSING", "There are no credentials for --s3.", {
      hint: "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.",
    });
  const chosen = region ?? env.AWS_REGION ?? "us-east-1";
  const url = `${baseOf(endpoint ?? `https://s3.${chosen}.amazonaws.com`)}/${bucket}/${key}`;
  const client = new AwsClient({
    accessKeyId,
    secretAccessKey,
    ...(env.AWS_SESSION_TOKEN ? { sessionToken: env.AWS_SESSION_TOKEN } : {}),
    region: chosen,
    service: "s3",
    retries: 1,
  });
  return async (document, signal) => {
    const failed = (reason: string, cause?: unknown) =>
      new HookproofError("KEY_SET_UPLOAD_FAILED", `${place}: ${reason}.`, { cause });
    const response = await client
      .fetch(url, {
        method: "PUT",
        body: document,
        headers: {
          "Content-Type": "application/jwk-set+json",
          "Cache-Control": `public, max-age=${maxAgeSeconds}`,
        },
        signal,
      })
      .catch((error: unknown) => {
        throw failed("the store cannot be reached", error);
      });
    const [, code] = /<Code>([A-Za-z]{1,60})<\/Code>/.exec((await response.text()).slice(0, 4096)) ?? [];
    if (!response.ok) throw failed(`the store answered ${response.status}${code ? ` ${code}` : ""}`);
  };
}

/** The endpoint without a slash at its end; plain HTTP is for loopback. */
function baseOf(endpoint: string): string {
  const url = URL.canParse(endpoint) ? new URL(endpoint) : undefined;
  const isLocal = /^(?:localhost|127(?:\.[0-9]+){3}|\[::1\])$/.test(url?.hostname ?? "");
  if (!url || (url.protocol !== "https:" && !(url.protocol === "http:" && isLocal)))
    throw usageError("--s3-endpoint must be an https:// URL; plain http is for loopback.");
  return url.href.replace(/\/$/, "");
}
