// The command that brings a key set to its host and proves that it is there.
import { join } from "node:path";
import {
  commandUpload,
  fileUpload,
  type KeySetPublication,
  type KeySetUpload,
  type KeyStore,
  publishKeySet,
} from "hookproof/node";
import type { Command, Context } from "../command.js";
import { PLAIN_HTTP_FLAG } from "../credentials/flags.js";
import { EXIT, refuseIdle, usageError } from "../failure.js";
import { ofRotation, openStore, PRIVATE_STORE_FLAGS } from "../keys/key-store-flags.js";
import { keySetTransport } from "../keys/keys.js";
import { countOf, type Output } from "../output.js";
import { shownTime, WAITED } from "../times.js";

export const jwksPublish: Command = {
  name: "jwks publish",
  details:
    "Uploads the set whenever it changes, fetches it back as a listener does, and only then lets a new key sign, after the time that caches may keep the older set. An upload that fails stops a rotation where it is: the old key keeps signing. Run it again, or with --watch: it goes on where it was. hookproof keys rotate asks for a rotation.",
  flags: {
    ...PRIVATE_STORE_FLAGS,
    url: { type: "string", value: "<url>", describe: "where listeners fetch the key set" },
    folder: {
      type: "string",
      value: "<dir>",
      describe: "upload to the root folder of a site; the file lies there as the URL's path says",
    },
    command: {
      type: "string",
      value: "<program>",
      describe: "upload with a program, which reads the key set from standard input; no shell",
    },
    arg: {
      type: "string",
      value: "<word>",
      repeatable: true,
      describe: "an argument of the program; {file} is the path of a file with the key set",
    },
    s3: {
      type: "string",
      value: "<s3://bucket/key>",
      describe: "upload to a store that speaks S3; AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are read",
    },
    "s3-endpoint": { type: "string", value: "<url>", describe: "the store's URL; Amazon's by default" },
    ...PLAIN_HTTP_FLAG,
    "s3-region": { type: "string", value: "<name>", describe: "the store's region; us-east-1 by default" },
    "cache-max-age": {
      type: "number",
      value: "<seconds>",
      default: 300,
      describe: "how long listeners may cache the key set; a longer time of the host itself counts",
    },
    settle: {
      type: "duration",
      value: "<dur>",
      default: "30s",
      describe: "how long to wait for the host to show what was uploaded",
    },
    watch: { type: "boolean", describe: "go on until stopped, and look every minute" },
    every: {
      type: "duration",
      value: "<dur>",
      range: WAITED,
      default: "1m",
      describe: "how often --watch looks",
    },
    "rotate-every": {
      type: "duration",
      value: "<dur>",
      describe: "ask for a rotation of every key that has signed this long",
    },
    release: {
      type: "boolean",
      describe: "let go of the URL: rotations of this store need no proof any more; nothing is uploaded",
    },
  },
  examples: [
    [
      "hookproof jwks publish --url https://keys.example.com/.well-known/jwks.json --folder /srv/www --watch",
      "a folder that a web server shows",
    ],
    [
      "hookproof jwks publish --url https://keys.example.com/jwks.json --command rsync --arg '{file}' --arg web-1:/srv/www/jwks.json",
      "any program; run it every minute",
    ],
    [
      "hookproof jwks publish --url https://keys.example.com/jwks.json --s3 s3://keys/jwks.json --watch --rotate-every 30d",
      "a bucket, and a rotation each month",
    ],
  ],
  exits: [
    [3, "the store, or what it is uploaded with, cannot be used"],
    [5, "the host does not show the set: the upload failed, or a cache has the older one"],
  ],
  async run(context) {
    const { args, io, out } = context;
    const { store } = await openStore(io, args);
    if (args.flag("release")) {
      await store.publication.end();
      out.document({ type: "publication", ok: true, released: true });
      out.line("released");
      out.note("Rotations of this store are planned without a proof again.");
      return EXIT.ok;
    }
    const url = args.text("url");
    if (url === undefined) throw usageError("--url is missing: where listeners fetch the key set.");
    const upload = await uploadOf(context, url);
    if ((await store.load()).length === 0) {
      const { kid } = await store.generate({ alg: "ES256" });
      out.note(`The store was empty; generated the key ${kid} (ES256).`);
    }
    const look = await createLook(context, store, url, upload);
    if (!args.flag("watch")) return (await look()).ok ? EXIT.ok : EXIT.unavailable;
    await watch(look, args.durationMs("every") ?? 60_000, context);
    return EXIT.ok;
  },
};

/** The one way to upload that the flags name. */
async function uploadOf(context: Context, url: string): Promise<KeySetUpload> {
  const { args } = context;
  const [folder, program, s3] = [args.text("folder"), args.text("command"), args.text("s3")];
  if ([folder, program, s3].filter((given) => given !== undefined).length !== 1)
    throw usageError("Give one of --folder, --command and --s3.");
  if (args.isGiven("arg") && program === undefined) throw usageError("--arg goes with --command.");
  if (s3 === undefined) refuseIdle(args, ["s3-endpoint", "s3-region", "plain-http"], "goes with --s3.");
  if (folder !== undefined) return fileUpload(join(folder, pathOf(url)));
  if (program !== undefined) return commandUpload(program, args.texts("arg"));
  const { s3Upload } = await import("../keys/s3-upload.js");
  return s3Upload(context, {
    place: s3 ?? "",
    endpoint: args.text("s3-endpoint"),
    region: args.text("s3-region"),
    maxAgeSeconds: args.number("cache-max-age") ?? 300,
  });
}

function pathOf(url: string): string {
  const path = URL.canParse(url) ? new URL(url).pathname : "";
  if (!/^\/(?:[A-Za-z0-9._~-]+\/)*[A-Za-z0-9._~-]+$/.test(path))
    throw usageError("--folder needs a --url whose path names a file, in letters, digits and . _ ~ -");
  return path;
}

/** One look at the host: what it found is shown, in a repetition only if it is something else. */
async function createLook(
  { args, io, out }: Pick<Context, "args" | "io" | "out">,
  store: KeyStore,
  url: string,
  upload: KeySetUpload,
): Promise<() => Promise<KeySetPublication>> {
  const options = {
    url,
    upload,
    maxAgeSeconds: args.number("cache-max-age"),
    settleForMs: args.durationMs("settle"),
    transport: await keySetTransport(io, url),
    allowInsecureLoopback: true,
    allowedCidrs: ["127.0.0.0/8", "::1/128"],
    signal: io.stopSignal,
  };
  const rotateEvery = args.durationMs("rotate-every");
  let last: string | undefined;
  return async () => {
    if (rotateEvery !== undefined)
      await store.rotateDue(rotateEvery).catch((error: unknown) => {
        throw ofRotation(error);
      });
    const done = await publishKeySet(store, options);
    const shown = JSON.stringify({ ...done, uploaded: false });
    if (shown !== last || done.uploaded) show(done, url, out);
    last = shown;
    return done;
  };
}

function show(
  { ok, kids, uploaded, planned, takenBack, problem }: KeySetPublication,
  url: string,
  out: Output,
) {
  out.document({
    type: "publication",
    ok,
    url,
    kids,
    uploaded,
    planned,
    takenBack,
    ...(problem ? { code: problem.code, detail: problem.detail } : {}),
  });
  if (ok) out.line(`${out.paint("green", "✔")} ${url} shows ${kids.join(", ")}`);
  else out.line(`${out.paint("red", "✖")} ${problem?.code}  ${problem?.detail}`);
  for (const { alg, kid, steps } of planned)
    out.line(`  ${kid} (${alg}) signs from ${shownTime(steps.find(({ step }) => step === "sign")?.at)}`);
  for (const kid of takenBack) out.line(`  ${kid} was going to sign, and waits for a proof again`);
  if (!ok) out.note("The old key keeps signing, and nothing retires. Run it again once the host is fixed.");
}

/** Looks until the process is stopped, and leaves a sum; what fails is said, and the next look tries again. */
async function watch(
  look: () => Promise<KeySetPublication>,
  everyMs: number,
  { io, out }: Pick<Context, "io" | "out">,
): Promise<void> {
  const sum = { looks: 0, uploads: 0, failed: 0 };
  const count = ({ ok, uploaded }: Pick<KeySetPublication, "ok" | "uploaded">) => {
    sum.looks++;
    if (uploaded) sum.uploads++;
    if (!ok) sum.failed++;
  };
  count(await look());
  while (!io.stopSignal.aborted) {
    await pause(everyMs, io.stopSignal);
    if (io.stopSignal.aborted) break;
    try {
      count(await look());
    } catch (error) {
      if (io.stopSignal.aborted) break;
      count({ ok: false, uploaded: false });
      out.warn(`No look: ${error instanceof Error ? error.message : "unknown"}`);
    }
  }
  out.document({ type: "watched", ok: true, ...sum });
  out.note(`${countOf(sum.looks, "look")}, ${countOf(sum.uploads, "upload")}, ${sum.failed} failed`);
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, Math.min(ms, 2 ** 31 - 1));
    function done() {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    }
    signal.addEventListener("abort", done, { once: true });
  });
}
