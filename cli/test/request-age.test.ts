// The age of a request is named by every scheme and at every door, as of the time that the receiver has.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { createEvent, hmacSigner, jwtSigner, type SignedRequest, type Signer, signRequest } from "hookproof";
import { httpSignatureSigner } from "hookproof/http-signature";
import { createKeySet, generateKey } from "hookproof/jwks";
import { securityEventSigner } from "hookproof/set";
import { standardWebhooksSigner } from "hookproof/standard-webhooks";
import { describe, expect, it, onTestFinished } from "vitest";
import { temporaryFolder } from "../../test/kit/temporary-folder.js";
import { run } from "../src/main.js";

const SECRET = "QSBrZXkgZm9yIEhvb2twcm9vZiB0ZXN0cyBvbmx5ISE";
const WHSEC = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const ISSUER = "https://idp.example.com/";
const PATH = "/api/v1/webhooks/incoming/lst_1";
const NOW = 1_767_225_600;
const [HOUR, WEEKS] = [3_600, 21 * 86_400];
const key = await generateKey({ alg: "ES256", kid: "k1" });
const signingKey = { key: key.privateJwk, kid: "k1", alg: "ES256" } as const;

interface Row {
  readonly flags: readonly string[];
  readonly proof: "secret" | "standard" | "keys";
  readonly signer: (url: string) => Signer;
  /** The flags of `verify` alone, which is told whom the request was for. */
  readonly told: (url: string) => readonly string[];
  /** How old a request is that is too old, and what is said of it. */
  readonly old: readonly [seconds: number, mistake: string, message: RegExp];
  /** What is said of one that is an hour ahead. */
  readonly ahead: string;
}

const url = (given: string) => ["--url", given];
const ROWS: Readonly<Record<string, Row>> = {
  "the default scheme": {
    flags: [],
    proof: "secret",
    signer: () => hmacSigner({ secret: SECRET }),
    told: () => [],
    old: [HOUR, "timestamp-stale", /5 minutes in the past/],
    ahead: "timestamp-ahead",
  },
  "the default scheme with a token": {
    flags: [],
    proof: "keys",
    signer: (target) => jwtSigner({ ...signingKey, baseUrl: new URL(target).origin }),
    told: url,
    old: [HOUR, "claim-exp-clock-behind", /^The token has expired/],
    ahead: "claim-exp-clock-ahead",
  },
  "Standard Webhooks": {
    flags: ["--scheme", "standard-webhooks"],
    proof: "standard",
    signer: () => standardWebhooksSigner({ secrets: WHSEC }),
    told: () => [],
    old: [HOUR, "timestamp-too-old", /5 minutes in the past. It is 36[0-9]{2} s old/],
    ahead: "timestamp-ahead",
  },
  "Standard Webhooks with other headers": {
    flags: ["--scheme", "standard-webhooks", "--header-names", "svix"],
    proof: "standard",
    signer: () => standardWebhooksSigner({ secrets: WHSEC, headerNames: "svix" }),
    told: () => [],
    old: [HOUR, "timestamp-too-old", /^svix-timestamp/],
    ahead: "timestamp-ahead",
  },
  "HTTP message signatures with a secret": {
    flags: ["--scheme", "http-signature", "--key-id", "k"],
    proof: "secret",
    signer: () => httpSignatureSigner({ secret: SECRET, keyId: "k" }),
    told: url,
    old: [HOUR, "created-too-old", /created/],
    ahead: "created-in-future",
  },
  "HTTP message signatures with a key": {
    flags: ["--scheme", "http-signature"],
    proof: "keys",
    signer: () => httpSignatureSigner({ key: signingKey }),
    told: url,
    old: [HOUR, "created-too-old", /created/],
    ahead: "created-in-future",
  },
  "security event tokens": {
    flags: ["--scheme", "set", "--issuer", ISSUER, "--audience", "me"],
    proof: "keys",
    signer: () => securityEventSigner({ key: signingKey, issuer: ISSUER, audience: "me" }),
    told: () => [],
    old: [WEEKS, "iat-too-old", /iat is 21 days old/],
    ahead: "iat-in-future",
  },
};
const rows = Object.entries(ROWS);

/** A folder with the proofs, and the flag that gives one. */
async function proofs() {
  const folder = temporaryFolder("request-age");
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text, { mode: 0o600 });
    return join(folder, name);
  };
  const keySet = JSON.stringify(await createKeySet([key]).publicJwks());
  return {
    folder,
    file,
    flags: {
      secret: ["--secret-file", file("secret", SECRET)],
      standard: ["--secret-file", file("standard", WHSEC)],
      keys: ["--jwks", file("keys.json", keySet)],
    },
  };
}

function signedAt(row: Row, target: string, seconds: number): Promise<SignedRequest> {
  const event = createEvent({ events: { "https://example.com/e": {} } });
  return signRequest({
    url: target,
    signer: row.signer(target),
    event,
    clock: { now: () => seconds * 1000 },
  });
}

function started(words: readonly string[], folder: string, stop: AbortController) {
  let printed = "";
  let told: (url: string) => void = () => {};
  const address = new Promise<string>((resolve) => {
    told = resolve;
  });
  const stdout = new Writable({
    write(chunk, _encoding, done) {
      printed += String(chunk);
      const [, found] = /"url":"([^"]+)"/.exec(printed) ?? [];
      if (found !== undefined) told(found);
      done();
    },
  });
  const ended = run([...words], {
    stdin: Readable.from([]),
    stdout,
    stderr: new Writable({ write: (_chunk, _encoding, done) => done() }),
    env: { HOOKPROOF_HOME: join(folder, "home"), NO_COLOR: "1" },
    stopSignal: stop.signal,
  });
  const documents = () =>
    printed
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
  return { address, ended, documents };
}

async function verified(row: Row, request: SignedRequest, target: string, ...more: string[]) {
  const { folder, file, flags } = await proofs();
  const lines = Object.entries(request.headers).map(([name, value]) => `${name}: ${value}`);
  const head = [`POST ${PATH} HTTP/1.1`, ...lines, "", ""].join("\r\n");
  const captured = file("captured", `${head}${Buffer.from(request.body).toString("utf8")}`);
  const words = [
    "verify",
    captured,
    "--json",
    ...row.flags,
    ...flags[row.proof],
    ...row.told(target),
    ...more,
  ];
  const { ended, documents } = started(words, folder, new AbortController());
  const exit = await ended;
  const [{ mistakes }] = documents();
  return { exit, mistakes: (mistakes as { id: string; message: string }[]) ?? [] };
}

describe("verify names the age of a request, as of --at:", () => {
  const target = `https://tenant.example.com${PATH}`;

  it.each(rows)("%s", async (_, row) => {
    const [seconds, mistake, message] = row.old;
    const request = await signedAt(row, target, NOW);
    expect(await verified(row, request, target, "--at", String(NOW))).toEqual({ exit: 0, mistakes: [] });
    const late = await verified(row, request, target, "--at", String(NOW + seconds));
    expect(late).toMatchObject({ exit: 7 });
    expect(late.mistakes[0]).toMatchObject({ id: mistake, message: expect.stringMatching(message) });
    const early = await verified(row, request, target, "--at", String(NOW - HOUR));
    expect(early).toMatchObject({ exit: 7 });
    expect(early.mistakes.map(({ id }) => id)).toContain(row.ahead);
  });

  it.each(rows)("%s, by the machine's clock, and not with --ignore-time", async (_, row) => {
    const [seconds, mistake] = row.old;
    const request = await signedAt(row, target, Math.floor(Date.now() / 1000) - seconds);
    const { exit, mistakes } = await verified(row, request, target);
    expect([exit, mistakes[0]?.id]).toEqual([7, mistake]);
    expect(await verified(row, request, target, "--ignore-time")).toEqual({ exit: 0, mistakes: [] });
  });
});

describe("listen names the age of a request:", () => {
  it.each(rows)("%s", async (_, row) => {
    const { folder, flags } = await proofs();
    const stop = new AbortController();
    const words = ["listen", "--port", "0", "--no-ui", "--json", ...row.flags, ...flags[row.proof]];
    const { address, ended, documents } = started(words, folder, stop);
    onTestFinished(() => stop.abort());
    const target = await address;
    const [seconds, , message] = row.old;
    const { headers, body } = await signedAt(row, target, Math.floor(Date.now() / 1000) - seconds);
    await (await fetch(target, { method: "POST", headers, body: Buffer.from(body) })).text();
    stop.abort();
    await ended;
    const [told] = documents().filter(({ type }) => type === "request");
    expect(told).toMatchObject({ reason: expect.stringMatching(message), fix: expect.any(String) });
  });
});
