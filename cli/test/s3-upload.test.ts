import type { RequestListener } from "node:http";
import { expect, it, onTestFinished } from "vitest";
import { serve } from "../../test/kit/loopback.js";
import type { Context } from "../src/command.js";
import { s3Upload } from "../src/keys/s3-upload.js";

const env = { AWS_ACCESS_KEY_ID: "AKID", AWS_SECRET_ACCESS_KEY: "secret", AWS_SESSION_TOKEN: "session" };
const upload = (given: { place?: string; endpoint?: string; region?: string }) =>
  s3Upload({ io: { env }, config: { texts: () => [] } } as unknown as Pick<Context, "io" | "config">, {
    place: "s3://keys/jwks.json",
    endpoint: undefined,
    region: undefined,
    maxAgeSeconds: 300,
    ...given,
  });

async function started(listener: RequestListener): Promise<string> {
  const server = await serve(listener);
  onTestFinished(() => server.stop());
  return server.url;
}

it("follows no redirect: another server would be given the session token", async () => {
  const got: unknown[] = [];
  const other = await started((request, response) => {
    got.push(request.headers);
    response.end();
  });
  const endpoint = await started((_, response) => response.writeHead(307, { Location: other }).end());
  await expect((await upload({ endpoint }))("{}", new AbortController().signal)).rejects.toThrow(
    "s3://keys/jwks.json: the store answered 307.",
  );
  expect(got).toEqual([]);
});

it.each([200, 403])("reads no more than the beginning of an answer: %i", async (status) => {
  const endpoint = await started((_, response) => {
    response.writeHead(status).write("<Code>AccessDenied</Code>");
    const piece = Buffer.alloc(65_536, "x");
    let written = 0;
    const more = () => {
      do written += piece.length;
      while (written < 64e6 && response.write(piece));
      // Who reads on until here has read everything.
      if (written >= 64e6) response.destroy();
    };
    response.on("drain", more).on("error", () => {});
    more();
  });
  const failure = await (await upload({ endpoint }))("{}", new AbortController().signal).catch(String);
  if (status === 200) expect(failure).toBeUndefined();
  else expect(failure).toContain("the store answered 403 AccessDenied.");
});

it.each([
  { place: "s3://keys/../other/jwks.json" },
  { place: "s3://keys/./jwks.json" },
  { place: "s3://keys/a/.." },
  { place: "s3://Keys/jwks.json" },
  { place: "s3://keys/a?b" },
  { region: "x.example.com/" },
  { endpoint: "http://store.example.com" },
  { endpoint: "http://127.0.0.1.example.com" },
  { endpoint: "ftp://127.0.0.1" },
  { endpoint: "https://store.example.com/?a=b" },
  { endpoint: "https://store.example.com/#a" },
  { endpoint: "https://user@store.example.com/" },
])("refuses %j", async (given) => {
  await expect(upload(given)).rejects.toThrow(/^--s3/);
});
