// Dates, waits, URLs and keys as other programs read them: vectors/http-dates.json, urls.json and keys.json.
import { describe, expect, it } from "vitest";
import { httpDate } from "../../src/core/headers.js";
import { parseTargetUrl } from "../../src/core/target-url.js";
import { createSender, jwtSigner, type Transport } from "../../src/index.js";
import { importKey } from "../../src/jwks/index.js";
import { readSigningKey } from "../../src/node/index.js";
import { classify } from "../../src/schemes/access-governance/answers.js";
import { standardWebhooksSigner } from "../../src/schemes/standard-webhooks/index.js";
import { readVectors } from "./vector-file.js";

interface Read {
  input: string;
  /** null: it is none. */
  seconds: number | null;
}

const { now, dates, retryAfter } = readVectors<{ now: number; dates: Read[]; retryAfter: Read[] }>(
  "http-dates.json",
);

it.each(dates)("the date $input is $seconds", ({ input, seconds }) => {
  expect(httpDate(input, now * 1_000) ?? null).toBe(seconds === null ? null : seconds * 1_000);
});

it.each(retryAfter)("Retry-After $input is $seconds", ({ input, seconds }) => {
  const seen = classify({ status: 429, headers: [["retry-after", input]] }, 1, now * 1_000);
  expect("retryAfterMs" in seen ? seen.retryAfterMs : null).toBe(seconds === null ? null : seconds * 1_000);
});

const { urls } = readVectors<{ urls: { input: string; host: string; target: string }[] }>("urls.json");

it.each(urls)("$input is asked for as $target of $host", ({ input, host, target }) => {
  const url = parseTargetUrl(input);
  expect([url.host, `${url.pathname}${url.search}`]).toEqual([host, target]);
});

it.each(urls)("a sender asks for $input so, whatever the scheme signs", async ({ input, host, target }) => {
  const asked: string[] = [];
  const transport: Transport = async ({ url }) => {
    const { host: its, pathname, search } = new URL(url);
    asked.push(its, `${pathname}${search}`);
    return { status: 200, headers: [], body: new Uint8Array(), truncated: false };
  };
  const signer = standardWebhooksSigner({ secrets: `whsec_${Buffer.alloc(24, 7).toString("base64")}` });
  await createSender({ url: input, signer, transport }).send({});
  expect(asked).toEqual([host, target]);
});

const { keys, refused } = readVectors<{
  keys: { name: string; alg: "RS256" | "ES256" | "EdDSA"; key: string; publicJwk: object }[];
  refused: { name: string; key: string }[];
}>("keys.json");

describe("a private key", () => {
  it.each(keys)(
    "$name: what is published is the key that python-cryptography reads",
    async ({ alg, key, publicJwk }) => {
      const read = readSigningKey(key, { kid: "k" });
      expect(read).toMatchObject({ alg, kid: "k", key: publicJwk });
      const { publicJwk: published } = await importKey(read.key, { alg, kid: "k" });
      expect(published).toEqual({ ...publicJwk, kid: "k", alg, use: "sig" });
    },
  );

  it.each(refused)("$name is refused with the reason", async ({ key }) => {
    for (const alg of ["RS256", "ES256", "EdDSA"] as const)
      await expect(
        createSender({
          url: "https://a.example/api/v1/webhooks/incoming/x",
          signer: jwtSigner({ key, kid: "k", alg }),
        }).trySend({}),
      ).resolves.toMatchObject({ ok: false, error: { code: "KEY_UNFIT" } });
  });
});
