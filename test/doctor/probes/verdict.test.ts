import { createHash, generateKeyPairSync, verify } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { HookproofError, type Transport } from "hookproof";
import {
  findListenerMistake,
  type ListenerVerdict,
  type ProbeResult,
  type ProbeTarget,
  runSchemeProbes,
  schemeVerdict,
} from "hookproof/probes";
import { generateStandardSecret, standardWebhooksSigner } from "hookproof/standard-webhooks";
import { afterAll, describe, expect, it } from "vitest";
import { wordsOf } from "../../../src/doctor/probes/listener-verdict.js";
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
  sha256,
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
  // It throws for an id without words.
  expect(tried.map((id) => wordsOf(id).bug.length > 0)).not.toContain(false);
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
      "a crash as PHP prints it",
      500,
      {},
      "<b>Fatal error</b>: Undefined variable $secret in x.php",
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

  it.each<[string, number, Record<string, string>, string, RegExp]>([
    ["Laravel's CSRF check", 419, {}, "<title>Page Expired</title>", /protection of forms/],
    [
      "Rails' CSRF page",
      422,
      {},
      "<title>The change you wanted was rejected (422)</title>",
      /protection of forms/,
    ],
    [
      "ASP.NET's",
      400,
      {},
      '{"title":"The required antiforgery cookie is not present."}',
      /protection of forms/,
    ],
    ["a login", 303, { location: "/users/sign_in" }, "", /a login page/],
    ["a login of a workspace", 302, { location: "https://a.example/pf-signin?id=1" }, "", /a login page/],
    ["a login by its title", 401, {}, "<title>Authentication Required</title>", /a login page is in front/],
    ["a login by its challenge", 401, { "www-authenticate": "Bearer" }, "", /asks for a Bearer token/],
    ["a login by its words", 401, {}, '{"message":"Unauthenticated."}', /a framework's or a gateway's login/],
    ["a gateway's key", 401, { "www-authenticate": 'Key realm="k"' }, "no", /asks for a key/],
    [
      "AWS API Gateway",
      403,
      { "x-amzn-errortype": "MissingAuthenticationTokenException" },
      "{}",
      /AWS API Gateway refuses it/,
    ],
    [
      "a firewall's words",
      406,
      {},
      "<title>Not Acceptable!</title> generated by Mod_Security.",
      /a firewall/,
    ],
    ["Cloudflare's code", 403, {}, "error code: 1020", /a firewall or CDN/],
    ["a WebSocket", 426, { upgrade: "websocket" }, "Upgrade Required", /a server for WebSockets/],
    ["a WebSocket by its words", 400, {}, 'Can "Upgrade" only to "WebSocket".', /a server for WebSockets/],
    ["a CDN without its application", 522, {}, "", /a CDN in front of it does not reach/],
    ["a tunnel that is down", 404, { "ngrok-error-code": "ERR_NGROK_3200" }, "", /a tunnel or host/],
    ["a key of Azure", 401, { "www-authenticate": 'AzureApiManagementKey realm="a"' }, "", /asks for a key/],
    [
      "Azure's firewall",
      403,
      { "x-azure-ref": "0a" },
      "<h2>The request is blocked.</h2>",
      /a firewall or CDN/,
    ],
    ["a proxy on the way", 403, { "x-squid-error": "ERR_ACCESS_DENIED 0" }, "", /\(Squid\) refuses/],
    ["an identity proxy", 401, { "x-goog-iap-generated-response": "true" }, "", /a login of its own/],
    [
      "a route with a slash",
      308,
      { location: "/api/v1/webhooks/incoming/lst_1/" },
      "",
      /has a slash at the end/,
    ],
    ["a crash", 500, {}, "NameError", /it fails at every request/],
  ])(
    "names what is in front, where GET, other paths and long bodies are answered otherwise: %s",
    async (...one) => {
      const [, status, headers, body, sentence] = one;
      const target = await answering((request, response) => {
        const isOther = request.method !== "POST" || Number(request.headers["content-length"]) > 60_000;
        if (isOther || !request.url?.endsWith("lst_1")) response.writeHead(405).end();
        else response.writeHead(status, headers).end(body);
      });
      const { verdict } = await verdictOn(target, true);
      expect(verdict?.id).toBe("answers-alike");
      expect(verdict?.sentence).toMatch(new RegExp(`^Every POST, right or wrong, is answered ${status}\\b`));
      expect(verdict?.sentence).toMatch(sentence);
    },
  );

  it("shows the answer that all got also where it does not tell who gives it", async () => {
    const page = "<title>Error</title><pre>Cannot POST /x</pre>";
    const { verdict } = await verdictOn(await answering((_, response) => response.writeHead(404).end(page)));
    expect(verdict?.sentence).toContain('with 404 ("Cannot POST /x")');
  });

  it("compares no secret where the status is none for a wrong proof", async () => {
    const target = await answering((request, response) =>
      response.writeHead(request.method === "POST" ? 422 : 405).end("no"),
    );
    const { verdict } = await verdictOn(target, true);
    expect(verdict?.sentence).toContain("is answered 422");
    expect(verdict?.fix).not.toContain("SHA-256");
  });

  it("asks for a misnamed header before it takes a listener that fails at every POST for broken", async () => {
    const target = await answering((request, response, body) => {
      const {
        "x-webhook-signature": given,
        "webhook-timestamp": time,
        "webhook-event-id": id,
      } = request.headers;
      if (request.method !== "POST") return response.writeHead(405).end();
      if (typeof given !== "string") return response.writeHead(500).end("TypeError");
      const wanted = hmacOf(SECRET, `${time}.${id}.`, body).toString("base64url");
      return response.writeHead(given === wanted ? 200 : 401).end();
    });
    expect((await verdictOn(target, true)).verdict).toMatchObject({ id: "header-misnamed" });
  });

  it("says that nothing answers where each connection is closed", async () => {
    const target = await answering((request) => request.socket.destroy());
    const { verdict } = await verdictOn(target, true);
    expect(verdict?.sentence).toMatch(/^Every connection, .* is closed without an answer/);
    expect(verdict?.fix).toContain("https://");
    const results = await resultsOf(target, { allowTrigger: true });
    const secure = { ...target, url: target.url.replace("http:", "https:") };
    expect((await findListenerMistake(secure, results))?.fix).toBe(
      "Look into the log of the server or proxy on that port.",
    );
  });

  it("counts acceptances of right requests as nothing where wrong ones are accepted too", async () => {
    const { verdict } = await verdictOn(await answering((_, response) => response.end("{}")), true);
    expect(verdict?.unproved).toContain("correct-request");
  });

  it("says that a rate limit has taken what could tell a cause", async () => {
    let requests = 0;
    const target = await answering((_, response) => response.writeHead(++requests > 20 ? 429 : 401).end());
    const options = { allowTrigger: true, wait: async () => {} };
    const verdict = await findListenerMistake(target, await resultsOf(target, options), options);
    expect(verdict?.sentence).toMatch(/^Something limits the rate: [0-9]+ of [0-9]+ answers are 429/);
  });

  it.each([
    [403, /^After \d+ answers everything is answered 403, also wrong proofs, .*something bans this machine/],
    [
      0,
      /^After \d+ answers nothing is answered any more \(CONNECTION_LOST\): it has stopped, or something bans/,
    ],
  ])("tells a ban after so many requests from the listener's own answers: %i", async (status, sentence) => {
    const reference = await startReference({ ...CORRECT, authenticates: correctHmac(SECRET) });
    stops.push(reference.stop);
    let requests = 0;
    const transport: Transport = async (request) => {
      if (++requests <= 40) return createTransport()(request);
      if (status > 0) return { status, headers: [], body: new Uint8Array(), truncated: false };
      throw new HookproofError("CONNECTION_LOST", "The connection was lost.");
    };
    const target = { url: reference.baseUrl + PATH, auth: hmac };
    const results = await resultsOf(target, { allowTrigger: true, transport });
    expect((await findListenerMistake(target, results, { transport }))?.sentence).toMatch(sentence);
  });

  it("makes nothing of proofs that a rate limit answered", async () => {
    const reference = await startReference({ ...CORRECT, authenticates: correctHmac(SECRET) });
    stops.push(reference.stop);
    let requests = 0;
    const transport: Transport = async (request) => {
      const answer = await createTransport()(request);
      return ++requests <= 20 ? answer : { ...answer, status: 429, headers: [["Retry-After", "0"]] };
    };
    const target = { url: reference.baseUrl + PATH, auth: hmac };
    const results = await resultsOf(target, { allowTrigger: true, transport });
    expect(await findListenerMistake(target, results, { transport })).toBeUndefined();
  });

  it("waits where a listener answers 503 and says when to come again", async () => {
    const reference = await startReference({ ...CORRECT, authenticates: correctHmac(SECRET) });
    stops.push(reference.stop);
    let requests = 0;
    const transport: Transport = async (request) => {
      const answer = await createTransport()(request);
      return ++requests % 10 === 0 ? { ...answer, status: 503, headers: [["Retry-After", "7"]] } : answer;
    };
    const waits: number[] = [];
    const target = { url: reference.baseUrl + PATH, auth: hmac };
    const options = { transport, concurrency: 1, wait: async (ms: number) => void waits.push(ms) };
    const results = await resultsOf(target, options);
    expect(results.filter(({ status }) => status === 503)).toEqual([]);
    expect(new Set(waits)).toEqual(new Set([7_000]));
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
    [
      "exp",
      { exp: (seen, { now }) => (seen as number) > now && (seen as number) <= now + 60 },
      "claim-exp-too-far",
      "tokens that expire within 30 seconds: it demands a shorter life",
    ],
    [
      "htb_s256 with padding",
      { htb_s256: (seen, { body }) => seen === `${sha256(body)}=` },
      "claim-htb-padded",
      "tokens with htb_s256 padded",
    ],
    [
      "htb_s256 by SHA-512",
      { htb_s256: (seen, { body }) => seen === createHash("sha512").update(body).digest("base64url") },
      "claim-htb-sha512",
      "tokens whose htb_s256 is by SHA-512",
    ],
    [
      "jti in capitals",
      { jti: (seen, { headers }) => seen === headers["webhook-event-id"]?.toUpperCase() },
      "claim-jti-spelling",
      "tokens with jti in another spelling",
    ],
    [
      "iat",
      { iat: (seen) => typeof seen === "number" },
      "demands-iat",
      "tokens with iat: it demands a claim",
    ],
    [
      "iss",
      { iat: (seen) => typeof seen === "number", iss: (seen) => typeof seen === "string" },
      "demands-iss",
      "tokens with iss and iat: it demands claims",
    ],
    [
      "aud that is a list",
      { aud: (seen, { baseUrl }) => Array.isArray(seen) && seen.includes(baseUrl + PATH) },
      "claim-aud-list",
      "tokens whose aud is a list: it expects a list",
    ],
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

  it.each([
    [-3600, "timestamp-stale"],
    [600, "timestamp-ahead"],
  ])("names a clock that is %i s off, by which tokens expire as well", async (off, id) => {
    let baseUrl = "";
    const { exp: rightExp } = CORRECT_TOKENS.claims;
    const exp: TokenChecks["claims"][string] = (seen, expected) =>
      rightExp?.(seen, { ...expected, now: expected.now + off }) === true;
    const authenticates = tokenAuthentication({ kid: "reference", publicKey }, () => baseUrl, {
      ...CORRECT_TOKENS,
      claims: { ...CORRECT_TOKENS.claims, exp },
    });
    const inWindow: Checks["inWindow"] = (timestamp, now) => Math.abs(now + off - timestamp) <= 300;
    const reference = await startReference({ ...CORRECT, inWindow, authenticates });
    stops.push(reference.stop);
    baseUrl = reference.baseUrl;
    const key = { ...privateKey.export({ format: "jwk" }), kty: "EC" };
    const auth = { method: "jwt", key, kid: "reference", alg: "ES256" } as const;
    const { verdict } = await verdictOn({ url: reference.baseUrl + PATH, auth });
    expect(verdict).toMatchObject({ id });
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

it.each<[string, number, Record<string, string>, string, RegExp]>([
  [
    "a login",
    302,
    { location: "/login" },
    "",
    /^Every request, right or wrong, is answered 302: .*leads elsewhere/,
  ],
  ["a CSRF check", 419, {}, "<title>Page Expired</title>", /protection of forms/],
  ["Basic", 401, { "www-authenticate": "Basic realm=x" }, "", /HTTP authentication is in front/],
  ["a listener with another secret", 401, {}, "", /^It answers 401 to correct requests/],
])("a listener of another scheme behind %s", async (_, status, headers, body, sentence) => {
  const { url } = await answering((_request, response) => response.writeHead(status, headers).end(body));
  const [secrets, other] = [generateStandardSecret(), generateStandardSecret()];
  const signer = standardWebhooksSigner({ secrets });
  const wrong = { title: "a request with another secret", means: "", fix: "" };
  const target = {
    url,
    signer,
    specification: "Standard Webhooks",
    wrongSigners: [{ ...wrong, id: "other", signer: standardWebhooksSigner({ secrets: other }) }],
  };
  const results: ProbeResult[] = [];
  for await (const result of runSchemeProbes(target, { allowTrigger: true })) results.push(result);
  expect(schemeVerdict(results)?.sentence).toMatch(sentence);
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

async function answering(
  handle: (request: IncomingMessage, response: ServerResponse, body: Buffer) => unknown,
): Promise<ProbeTarget> {
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request
      .on("data", (part) => parts.push(part))
      .on("end", () => {
        handle(request, response, Buffer.concat(parts));
      });
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
