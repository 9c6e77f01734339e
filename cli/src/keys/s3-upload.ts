// Uploads a key set to a store that speaks S3.
import { AwsClient } from "aws4fetch";
import { HookproofError } from "hookproof";
import type { KeySetUpload } from "hookproof/node";
import type { Context } from "../command.js";
import type { Config } from "../config/config.js";
import { requireCredentialUrl } from "../credentials/credential-url.js";
import { CliError, EXIT, usageError } from "../failure.js";

/** How much of an answer is looked at, in characters. */
const SHOWN_ANSWER = 4_096;

/** Where in a store that speaks S3 the document goes. */
interface S3Place {
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
export async function s3Upload(
  { io: { env }, config }: Pick<Context, "io" | "config">,
  { place, endpoint, region, maxAgeSeconds }: S3Place,
): Promise<KeySetUpload> {
  const [, bucket, key] = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,62})\/([A-Za-z0-9._~/-]+)$/.exec(place) ?? [];
  // A URL would take such a part away, and name another bucket.
  if (bucket === undefined || key === undefined || key.split("/").some((part) => /^\.{1,2}$/.test(part)))
    throw usageError(`--s3 must be s3://bucket/key, not ${JSON.stringify(place)}.`);
  const given = endpoint === undefined ? undefined : await checkedEndpoint(config, endpoint);
  const [accessKeyId, secretAccessKey] = [env.AWS_ACCESS_KEY_ID, env.AWS_SECRET_ACCESS_KEY];
  if (!accessKeyId || !secretAccessKey)
    throw new CliError(EXIT.setup, "S3_CREDENTIALS_MISSING", "There are no credentials for --s3.", {
      hint: "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.",
    });
  const chosen = region ?? env.AWS_REGION ?? "us-east-1";
  if (!/^[a-z0-9-]{1,64}$/.test(chosen))
    throw usageError("--s3-region and AWS_REGION are a region's name, such as us-east-1.");
  const url = `${given ?? `https://s3.${chosen}.amazonaws.com`}/${bucket}/${key}`;
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
    const put = async () => {
      const response = await client.fetch(url, {
        method: "PUT",
        body: document,
        headers: {
          "Content-Type": "application/jwk-set+json",
          "Cache-Control": `public, max-age=${maxAgeSeconds}`,
        },
        signal,
        // Another server would be given the session token.
        redirect: "manual",
      });
      return { ok: response.ok, status: response.status, text: await beginningOf(response) };
    };
    const { ok, status, text } = await put().catch((error: unknown) => {
      throw failed("the store cannot be reached", error);
    });
    const [, code] = /<Code>([A-Za-z]{1,60})<\/Code>/.exec(text) ?? [];
    if (!ok) throw failed(`the store answered ${status}${code ? ` ${code}` : ""}`);
  };
}

/** The beginning of an answer, which may have no end. */
async function beginningOf({ body }: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length >= SHOWN_ANSWER) break;
  }
  return text.slice(0, SHOWN_ANSWER);
}

/** The endpoint without a slash at its end. */
async function checkedEndpoint(config: Config, endpoint: string): Promise<string> {
  await requireCredentialUrl(config, endpoint, "--s3-endpoint");
  const url = new URL(endpoint);
  if (url.href !== `${url.origin}${url.pathname}`)
    throw usageError("--s3-endpoint must be a URL without a query and a fragment.");
  return url.href.replace(/\/$/, "");
}
