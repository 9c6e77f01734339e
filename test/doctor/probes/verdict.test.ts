import { generateKeyPairSync, verify } from "node:crypto";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import type { Transport } from "hookproof";
import { findListenerMistake, type ListenerVerdict, type ProbeTarget } from "hookproof/probes";
import { afterAll, describe, expect, it } from "vitest";
import { rowOf } from "../../../src/doctor/diagnose/catalogue.js";
import { wrongBodies, wrongSignatures, wrongTokens } from "../../../src/doctor/probes/wrong-requests.js";
import { createTransport } from "../../../src/http/transport-fetch.js";
import { resultsOf, SECRET, startHmac } from "../../kit/probes/listeners.js";
import {
  type Checks,
  CORRECT,
  correctHmac,
  headOf,
  hmacOf,
  PATH,
  startReference,
} from "../../kit/probes/reference-listener.js";
import { CORRECT_TOKENS, type TokenChecks, tokenAuthentication } from "../../kit/probes/reference-tokens.js";

const stops: (() => unknown)[] = [];
afterAll(() => Promise.all(stops.map((stop) => stop())));

const hmac = { method: "hmac", secret: SECRET } as const;

async function verdictOn(
  target: ProbeTarget,
  allowTrigger = false,
): Promise<{ verdict: ListenerVerdict | undefined; failed: string[] }> {
  const results = await resultsOf(target, { allowTrigger });
  const failed = results.filter(({ outcome }) => outcome === "fail" || outcome === "unclear");
  return {
    verdict: await findListenerMistake(target, results, { allowTrigger }),
    failed: failed.map(({ id }) => id),
  };
}

it("has words for every mistake that is tried", () => {
  const tried = [...wrongSignatures(SECRET), ...wrongTokens()].flatMap(({ mistakes }) => mistakes);
  expect(new Set(tried).size).toBeGreaterThan(70);
  expect(tried.filter((id) => rowOf(id)?.listener === undefined)).toEqual([]);
  expect(wrongSignatures(SECRET).length).toBeLessThanOrEqual(250);
});

describe("the verdict on a listener", () => {
  it("is none for a right one, and nothing more is sent", async () => {
    const probed = await startHmac();
    stops.push(probed.stop);
    const results = await resultsOf(probed.target, { allowTrigger: true });
    const runs = probed.runs();
    const transport = () => Promise.reject(new Error("sent"));
    const options = { allowTrigger: true, transport };
    expect(await findListenerMistake(probed.target, results, options)).toBeUndefined();
    expect(probed.runs()).toBe(runs);
  });

  it("says that no known mistake explains a wrong secret, and never shows it", async () => {
    const probed = await startHmac();
    stops.push(probed.stop);
    const secret = "HyEjJScpKy0vMTM1Nzk7PT9BQ0VHSUtNT1FTVVdZW10";
    const { verdict, failed } = await verdictOn({ ...probed.target, auth: { method: "hmac", secret } });
    expect(verdict).toMatchObject({ id: "signature-unexplained", follows: failed });
    expect(verdict?.sentence).toMatch(
      /^It refuses correct requests with 401, and \d+ requests with known mistakes too: no known mistake explains it\.$/,
    );
    expect(verdict?.fix).toMatch(/\(here sha256:[0-9a-f]{8}\)/);
    expect(verdict?.requests).toBeLessThanOrEqual(250);
    expect(JSON.stringify(verdict)).not.toContain(secret.slice(0, 12));
  });

  it("names two mistakes that come together", async () => {
    const reference = await startReference({
      ...CORRECT,
      authenticates: ({ headers, body }) =>
        headers["webhook-signature"] ===
        hmacOf(Buffer.from(SECRET, "base64url"), headOf(headers), body).toString("hex"),
    });
    stops.push(reference.stop);
    const { verdict } = await verdictOn({ url: reference.baseUrl + PATH, auth: hmac });
    expect(verdict?.sentence).toBe(
      "It refuses correct requests and accepts signatures made with the decoded secret and in hex: it decodes the secret, and it compares hex with base64url.",
    );
  });

  it("is asked for with other bodies alone, where only these show the mistake", async () => {
    const reference = await startReference({
      ...CORRECT,
      authenticates({ headers, body }) {
        const again = Buffer.from(JSON.stringify(JSON.parse(String(body))));
        return headers["webhook-signature"] === hmacOf(SECRET, headOf(headers), again).toString("base64url");
      },
    });
    stops.push(reference.stop);
    const target = { url: reference.baseUrl + PATH, auth: hmac };
    const results = await resultsOf(target, { allowTrigger: true });
    const verdict = await findListenerMistake(target, results, { allowTrigger: true, concurrency: 1 });
    const place = wrongBodies(SECRET).findIndex(({ mistakes }) => mistakes.includes("body-compact"));
    expect(verdict).toMatchObject({ id: "body-compact", requests: place + 1 });
  });

  it("is that nothing is verified, where every proof passes", async () => {
    const reference = await startReference({ ...CORRECT, authenticates: () => true });
    stops.push(reference.stop);
    const { verdict } = await verdictOn({ url: reference.baseUrl + PATH, auth: hmac });
    expect(verdict).toMatchObject({ id: "signature-of-other-secret", requests: 0 });
    expect(verdict?.sentence).toBe(
      "It accepts a signature by another secret: it does not verify signatures.",
    );
  });

  it.each<[string, number, Record<string, string>, string, RegExp]>([
    [
      "a crash",
      500,
      {},
      "Fatal error: Undefined variable $secret in x.php",
      /500 \("Fatal error: Undefined variable \$secret in x\.php"\): it fails at every request/,
    ],
    [
      "a login page",
      302,
      { location: "/login?next=%2F" },
      "",
      /302 \(Location: "\/login"\): it leads to a login page/,
    ],
    [
      "another address",
      301,
      { location: "https://other.example/x" },
      "",
      /301 .*the address leads elsewhere/,
    ],
    [
      "Basic",
      401,
      { "www-authenticate": 'Basic realm="staging"' },
      '{"message":"Unauthenticated."}',
      /401 \(WWW-Authenticate: "Basic realm=\\"staging\\""\): HTTP authentication is in front/,
    ],
    [
      "Laravel's CSRF check",
      419,
      { "content-type": "text/html" },
      "<html><title>Page Expired</title>",
      /419 \("Page Expired"\): a framework's protection of forms/,
    ],
    [
      "Django's CSRF check",
      403,
      {},
      "<h1>Forbidden</h1><p>CSRF verification failed. Request aborted.</p>",
      /403 .*protection of forms/,
    ],
    ["Rails' CSRF check", 422, {}, "ActionController::InvalidAuthenticityToken", /422 .*protection of forms/],
    ["Express' CSRF check", 403, {}, "ForbiddenError: invalid csrf token", /403 .*protection of forms/],
    [
      "a CDN",
      403,
      { server: "cloudflare" },
      "<title>Attention Required! | Cloudflare</title>",
      /403 \("Attention Required! \| Cloudflare"\): a firewall or CDN/,
    ],
    [
      "a maintenance page",
      503,
      { "retry-after": "600" },
      "<title>Down for maintenance</title>",
      /503 \("Down for maintenance"\): it is out of service/,
    ],
    [
      "a proxy without its application",
      502,
      {},
      "<title>502 Bad Gateway</title>",
      /502 .*does not reach the application/,
    ],
    ["an address without POST", 405, {}, "", /405: no POST is taken/],
  ])("names what is in front of it and answers all alike: %s", async (_, status, headers, body, sentence) => {
    const target = await answering((_, response) => response.writeHead(status, headers).end(body));
    for (const allowTrigger of [false, true]) {
      const { verdict, failed } = await verdictOn(target, allowTrigger);
      expect(verdict).toMatchObject({ id: "answers-alike", follows: failed, requests: 1 });
      expect(verdict?.sentence).toMatch(/^Every request, right or wrong, is answered /);
      expect(verdict?.sentence).toMatch(sentence);
    }
  });

  it.each<[string, number, Record<string, string>, string]>([
    ["the application behind a CDN", 403, { server: "cloudflare", "cf-ray": "1-FRA" }, "access denied"],
    ["an address with letters of a login in it", 302, { location: "/authors/blogin/unsigned" }, ""],
    ["a refusal whose words a firewall has too", 409, {}, "request blocked: a copy"],
    [
      "a page of a framework, with its token and a captcha",
      404,
      {},
      '<meta name="csrf-token" content="x"><script src="/recaptcha/api.js"></script><title>Not Found</title>',
    ],
  ])("names no cause that was not shown: %s", async (_, status, headers, body) => {
    const target = await answering((_, response) => response.writeHead(status, headers).end(body));
    const { verdict } = await verdictOn(target, true);
    expect(`${verdict?.sentence}`).not.toMatch(/firewall|CDN|login page|CSRF/);
  });

  it("names nothing that answers alike where a request without a proof is answered otherwise", async () => {
    const target = await answering((request, response) => {
      const hasProof =
        request.headers["webhook-event-id"] !== undefined || request.headers.authorization !== undefined;
      response.writeHead(hasProof ? 503 : 401, { "retry-after": "0" }).end("maintenance");
    });
    const { verdict } = await verdictOn(target, true);
    expect(verdict?.id).not.toBe("answers-alike");
  });

  it.each([
    [202, "It answers 202 and not 200 to a correct request."],
    [204, "It answers 204 and not 200 to a correct request."],
  ])("says what differs where a correct request is answered %i", async (status, sentence) => {
    const reference = await startReference({ ...CORRECT, authenticates: correctHmac(SECRET) });
    stops.push(reference.stop);
    const transport: Transport = async (request) => {
      const answer = await createTransport()(request);
      return answer.status === 200 ? { ...answer, status } : answer;
    };
    const target = { url: reference.baseUrl + PATH, auth: hmac };
    const results = await resultsOf(target, { allowTrigger: true, transport });
    expect((await findListenerMistake(target, results, { transport }))?.sentence).toBe(sentence);
  });

  it.each<[string, Partial<Checks>, string]>([
    [
      "every time to come",
      { inWindow: (timestamp, now) => now - timestamp <= 300 },
      "It accepts a timestamp of an hour ahead: it takes timestamps that are yet to come.",
    ],
    [
      "milliseconds alone",
      {
        inWindow: (timestamp, now) =>
          Math.abs(now - (timestamp > 1e11 ? timestamp / 1000 : timestamp)) <= 300,
      },
      "It accepts a timestamp in milliseconds: it guesses the unit of the timestamp.",
    ],
  ])("names the stronger mistake about times: %s", async (_, checks, sentence) => {
    const reference = await startReference({ ...CORRECT, authenticates: correctHmac(SECRET), ...checks });
    stops.push(reference.stop);
    const { verdict } = await verdictOn({ url: reference.baseUrl + PATH, auth: hmac }, true);
    expect(verdict?.sentence).toBe(sentence);
  });

  it("says that the path is another one, where everything is 404", async () => {
    const { verdict } = await verdictOn(await answering((_, response) => response.writeHead(404).end()));
    expect(verdict?.sentence).toContain("with 404");
    expect(verdict?.sentence).toContain("the path is not the listener's");
  });

  it("stops asking where the listener limits the rate", async () => {
    let asked = 0;
    const target = await answering((_, response) => response.writeHead(++asked > 110 ? 429 : 401).end());
    const results = await resultsOf(target);
    asked = 111;
    const waits: number[] = [];
    await findListenerMistake(target, results, { wait: async (ms) => void waits.push(ms) });
    expect(asked).toBeLessThan(130);
    expect(waits).toEqual([1_000, 2_000, 4_000]);
  });
});

describe("the verdict on a listener for tokens", () => {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });

  it.each<[string, TokenChecks["claims"], string, string]>([
    [
      "sub",
      { sub: (seen, { baseUrl }) => seen === `${baseUrl}/` },
      "claim-sub-trailing-slash",
      "tokens whose sub has a trailing slash",
    ],
    [
      "aud",
      { aud: (seen, { baseUrl }) => seen === baseUrl },
      "claim-aud-swapped",
      "tokens whose aud is the other URL",
    ],
    ["htm", { htm: (seen) => seen === "post" }, "claim-htm-case", "tokens with htm in lower case"],
  ])("names a wrong %s", async (_name, claims, id, accepts) => {
    let baseUrl = "";
    const authenticates = tokenAuthentication({ kid: "reference", publicKey }, () => baseUrl, {
      ...CORRECT_TOKENS,
      claims: { ...CORRECT_TOKENS.claims, ...claims },
    });
    const reference = await startReference({ ...CORRECT, authenticates });
    stops.push(reference.stop);
    baseUrl = reference.baseUrl;
    const key = { ...privateKey.export({ format: "jwk" }), kty: "EC" };
    const auth = { method: "jwt", key, kid: "reference", alg: "ES256" } as const;
    for (const allowTrigger of [false, true]) {
      const { verdict } = await verdictOn({ url: reference.baseUrl + PATH, auth }, allowTrigger);
      expect(verdict).toMatchObject({ id });
      expect(verdict?.sentence).toContain(`It refuses correct requests and accepts ${accepts}`);
    }
  });

  it("names DER that is expected in place of 64 bytes", async () => {
    let baseUrl = "";
    const authenticates = tokenAuthentication({ kid: "reference", publicKey }, () => baseUrl, {
      ...CORRECT_TOKENS,
      isSigned: ({ header, input, signature }, { kid }) =>
        header.kid === kid && verify("sha256", Buffer.from(input), publicKey, signature),
    });
    const reference = await startReference({ ...CORRECT, authenticates });
    stops.push(reference.stop);
    baseUrl = reference.baseUrl;
    const key = { ...privateKey.export({ format: "jwk" }), kty: "EC" };
    const auth = { method: "jwt", key, kid: "reference", alg: "ES256" } as const;
    const { verdict } = await verdictOn({ url: reference.baseUrl + PATH, auth });
    expect(verdict).toMatchObject({ id: "token-signature-der" });
    expect(verdict?.sentence).toContain("it verifies DER and not 64 bytes");
    expect(verdict?.fix).toContain("dsaEncoding 'ieee-p1363'"); // as the reference listener does
  });

  it("names a hash of the body that is not compared, and no way to change a body", async () => {
    let baseUrl = "";
    const claims = { ...CORRECT_TOKENS.claims, htb_s256: (seen: unknown) => typeof seen === "string" };
    const authenticates = tokenAuthentication({ kid: "reference", publicKey }, () => baseUrl, {
      ...CORRECT_TOKENS,
      claims,
    });
    const reference = await startReference({ ...CORRECT, authenticates });
    stops.push(reference.stop);
    baseUrl = reference.baseUrl;
    const key = { ...privateKey.export({ format: "jwk" }), kty: "EC" };
    const auth = { method: "jwt", key, kid: "reference", alg: "ES256" } as const;
    const { verdict } = await verdictOn({ url: reference.baseUrl + PATH, auth }, true);
    expect(verdict?.sentence).toMatch(
      /^It accepts (?:one byte of the body changed|a token with the hash of another body)/,
    );
    expect(verdict?.sentence).toMatch(/does not compare/);
  });
});

describe("the search for a mistake", () => {
  it("tells how far it is, from before its first request to after its last", async () => {
    const target = await answering((_, response) => response.writeHead(401).end());
    const results = await resultsOf(target, { allowTrigger: true });
    const told: [number, number][] = [];
    const onProgress = (...how: [number, number]) => told.push(how);
    const verdict = await findListenerMistake(target, results, { onProgress });
    const [all] = told.at(-1) ?? [];
    expect(told.at(-1)).toEqual([all, all]);
    // What this runtime cannot send is counted as well, and the first asks who answers.
    expect(all).toBeGreaterThan(verdict?.requests ?? Number.POSITIVE_INFINITY);
    expect(told.slice(0, -1).filter(([answered, requests]) => answered >= requests)).toEqual([]);
    await expect(findListenerMistake(target, results, { onProgress: 1 as never })).rejects.toThrow(TypeError);
  });

  it("ends with ABORTED and no verdict where it was stopped", async () => {
    const target = await answering((_, response) => response.writeHead(401).end());
    const results = await resultsOf(target, { allowTrigger: true });
    const stop = new AbortController();
    // A transport that knows nothing of signals: what is on its way is answered.
    const transport: Transport = async ({ signal: _, ...request }) => createTransport()(request);
    const onProgress = (answered: number) => void (answered > 20 && stop.abort());
    await expect(
      findListenerMistake(target, results, { transport, onProgress, signal: stop.signal }),
    ).rejects.toMatchObject({ code: "ABORTED" });
  });
});

async function answering(handle: RequestListener): Promise<ProbeTarget> {
  const server = createServer((request, response) => {
    request.resume().on("end", () => handle(request, response));
  }).listen(0, "127.0.0.1");
  await new Promise((listening) => server.once("listening", listening));
  stops.push(
    () => server.closeAllConnections(),
    () => server.close(),
  );
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1/webhooks/incoming/lst_1`,
    auth: hmac,
  };
}
