import { createHmac } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { jwtSigner, type Signer } from "hookproof";
import { httpSignatureSigner } from "hookproof/http-signature";
import { createKeySet, generateKey, type KeyRecord } from "hookproof/jwks";
import { securityEventSigner } from "hookproof/set";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { ownTime } from "../src/capture/request-time.js";
import { run } from "../src/main.js";

const SECRET = "QSBrZXkgZm9yIEhvb2twcm9vZiB0ZXN0cyBvbmx5ISE";
const WHSEC = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const ID = "0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10";
const BODY = '{"a":1}';
const URL_OF_LISTENER = "https://tenant.example.com/api/v1/webhooks/incoming/lst_1";
const OLD = 1_767_225_600;

let folder: string;
const path = (name: string) => join(folder, name);
let key: KeyRecord;
let other: KeyRecord;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "hookproof-known-"));
  mkdirSync(path("data"), { mode: 0o700 });
  writeFileSync(path("secret.txt"), SECRET, { mode: 0o600 });
  writeFileSync(path("standard.txt"), WHSEC, { mode: 0o600 });
  [key, other] = [
    await generateKey({ alg: "ES256", kid: "k1" }),
    await generateKey({ alg: "ES256", kid: "k2" }),
  ];
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function verified(
  text: string,
  ...flags: string[]
): Promise<{ exit: number; seen: string; mistakes: string[]; code?: string }> {
  writeFileSync(path("captured"), text);
  const written: Buffer[] = [];
  const sink = () =>
    new Writable({
      write(chunk, _encoding, done) {
        written.push(Buffer.from(chunk));
        done();
      },
    });
  const exit = await run(["verify", path("captured"), "--json", ...flags], {
    stdin: Readable.from([]),
    stdout: sink(),
    stderr: sink(),
    env: { HOOKPROOF_HOME: path("data"), NO_COLOR: "1" },
    stopSignal: new AbortController().signal,
  });
  const seen = Buffer.concat(written).toString("utf8");
  const document = seen.startsWith("{") ? JSON.parse(seen.split("\n", 1)[0] ?? "") : {};
  return {
    exit,
    seen,
    mistakes: (document.mistakes ?? []).map(({ id, message }: Record<string, string>) => `${id}: ${message}`),
    code: document.code,
  };
}

function raw(headers: readonly (readonly [string, string])[], body = BODY): string {
  const lines = headers.map(([name, value]) => `${name}: ${value}`);
  return ["POST /api/v1/webhooks/incoming/lst_1 HTTP/1.1", ...lines, "", body].join("\r\n");
}

const JSON_TYPE = ["Content-Type", "application/json"] as const;

function own(timestamp: string): string {
  const signature = createHmac("sha256", SECRET).update(`${timestamp}.${ID}.${BODY}`).digest("base64url");
  return raw([
    JSON_TYPE,
    ["Webhook-Timestamp", timestamp],
    ["Webhook-Event-Id", ID],
    ["Webhook-Signature", signature],
  ]);
}

function standard(timestamp: string): string {
  const secret = Buffer.from(WHSEC.slice(6), "base64");
  const signature = createHmac("sha256", secret).update(`msg_1.${timestamp}.${BODY}`).digest("base64");
  return raw([
    JSON_TYPE,
    ["webhook-id", "msg_1"],
    ["webhook-timestamp", timestamp],
    ["webhook-signature", `v1,${signature}`],
  ]);
}

async function signedBy(
  signer: Signer,
  timestamp: string,
  headers: readonly (readonly [string, string])[],
): Promise<string> {
  const signed = await signer.sign({ url: URL_OF_LISTENER, timestamp, eventId: ID, body: Buffer.from(BODY) });
  return raw([JSON_TYPE, ...headers, ...signed.headers], Buffer.from(signed.body ?? BODY).toString("utf8"));
}

const far = String(56_000 * 365 * 86_400);
/** What no clock takes, however old the request may be. */
const WRONG_TIMES = [
  `${OLD}123`,
  `${OLD}123456`,
  `${OLD}123456789`,
  "2026-01-01T00:00:00Z",
  `${OLD}.5`,
  "20454",
  "1767225",
  far,
  "9999999999",
];

describe("a signature over the URL", () => {
  const url = "https://tenant.example.com/api/v1/webhooks/incoming/lst_1";
  const signed = (over: string, ...more: (readonly [string, string])[]) =>
    raw([
      ...more,
      JSON_TYPE,
      ["Webhook-Timestamp", String(OLD)],
      ["Webhook-Event-Id", ID],
      ["Webhook-Signature", createHmac("sha256", SECRET).update(over).digest("base64url")],
    ]);
  const byUrl = (text: string, ...more: string[]) =>
    verified(text, "--secret-file", path("secret.txt"), "--ignore-time", ...more);

  it("is named by the request's own Host", async () => {
    const { mistakes } = await byUrl(signed(`${url}${BODY}`, ["Host", "tenant.example.com"]));
    expect(mistakes[0]).toMatch(/^input-with-url/);
    const near = ["Host", "127.0.0.1:4400"] as const;
    const local = `http://127.0.0.1:4400${new URL(url).pathname}${BODY}`;
    expect((await byUrl(signed(local, near))).mistakes[0]).toMatch(/^input-with-url/);
  });

  it("is not tried where the URL is not known, which is said, and is with --url", async () => {
    const without = await byUrl(signed(`${url}${BODY}`));
    expect(without.mistakes[0]).toMatch(/^signature-unexplained/);
    expect(without.seen).toContain("Texts with the listener's URL were not tried");
    const { mistakes } = await byUrl(signed(`${url}${BODY}`), "--url", url);
    expect(mistakes[0]).toMatch(/^input-with-url/);
    const { seen } = await byUrl(signed("x"), "--url", url);
    expect(seen).not.toContain("were not tried");
  });
});

describe("verify --ignore-time leaves nothing out but the age", () => {
  const flags = () => ["--secret-file", path("secret.txt"), "--ignore-time"];

  it("a time of the right form may be old", async () => {
    expect(await verified(own(String(OLD)), ...flags())).toMatchObject({ exit: 0, mistakes: [] });
    expect(
      await verified(
        standard(String(OLD)),
        "--scheme",
        "standard-webhooks",
        "--secret-file",
        path("standard.txt"),
        "--ignore-time",
      ),
    ).toMatchObject({ exit: 0 });
  });

  it.each(WRONG_TIMES)("%s is refused and named", async (timestamp) => {
    const { exit, mistakes } = await verified(own(timestamp), ...flags());
    expect(exit).toBe(7);
    expect(mistakes.join()).toMatch(/^timestamp-/);
    expect(mistakes.join()).not.toMatch(/unexplained/);
  });

  it.each(WRONG_TIMES)("%s is refused by Standard Webhooks", async (timestamp) => {
    const { exit, code, mistakes } = await verified(
      standard(timestamp),
      "--scheme",
      "standard-webhooks",
      "--secret-file",
      path("standard.txt"),
      "--ignore-time",
    );
    expect([exit, code]).toEqual([7, expect.stringMatching(/^TIMESTAMP_/)]);
    expect(mistakes).toEqual([expect.stringMatching(/^timestamp-/)]);
  });

  it.each([
    [`${OLD}123`, "created-in-milliseconds"],
    [`${OLD}.5`, "."],
    [`"${OLD}"`, "created-not-a-number"],
    [far, "created-in-milliseconds"],
    ["9999999999", "created-in-future"],
  ])("created=%s of HTTP message signatures is refused", async (created, mistake) => {
    const signer = httpSignatureSigner({ secret: SECRET, keyId: "k" });
    const request = (await signedBy(signer, String(OLD), [["Webhook-Event-Id", ID]])).replace(
      /;created=[0-9]+/,
      `;created=${created}`,
    );
    const scheme = [
      "--scheme",
      "http-signature",
      "--key-id",
      "k",
      "--url",
      URL_OF_LISTENER,
      "--secret-file",
      path("secret.txt"),
      "--ignore-time",
    ];
    const { exit, seen } = await verified(request, ...scheme);
    expect(exit, seen).toBe(7);
    expect(seen).toContain(mistake);
    expect(seen).not.toContain("created-too-old");
  });

  it("iat in milliseconds or ahead of a security event token is named, an old one is not", async () => {
    writeFileSync(path("set.json"), JSON.stringify(await createKeySet([key]).publicJwks()));
    const parties = { issuer: "https://idp.example.com/", audience: "https://rp.example.com/" };
    const scheme = [
      "--scheme",
      "set",
      "--issuer",
      parties.issuer,
      "--audience",
      parties.audience,
      "--jwks",
      path("set.json"),
      "--ignore-time",
    ];
    const signer = securityEventSigner({ key: { key: key.privateJwk, kid: "k1", alg: "ES256" }, ...parties });
    const tokenOf = async (iat: unknown) => {
      const body = Buffer.from(JSON.stringify({ events: { "https://example.com/e": { iat: 5 } } }));
      const signed = await signer.sign({ url: URL_OF_LISTENER, timestamp: String(OLD), eventId: ID, body });
      const [head = "", claims = "", signature = ""] = Buffer.from(signed.body ?? "")
        .toString("utf8")
        .split(".");
      const changed = { ...JSON.parse(Buffer.from(claims, "base64url").toString("utf8")), iat };
      const text = Buffer.from(JSON.stringify(changed)).toString("base64url");
      return raw([["Content-Type", "application/secevent+jwt"]], [head, text, signature].join("."));
    };
    const found = async (iat: unknown) => (await verified(await tokenOf(iat), ...scheme)).mistakes.join();
    expect(await found(OLD)).not.toMatch(/iat-/);
    expect(await found(OLD * 1000)).toMatch(/^iat-in-milliseconds/);
    expect(await found(9_999_999_999)).toMatch(/^iat-in-future/);
    expect(await found(String(OLD))).toMatch(/^iat-not-a-number/);
  });

  it("reads a time in another unit as what was meant", () => {
    const now = 1_800_000_000_000;
    for (const text of [`${OLD}123`, "2026-01-01T00:00:00Z", `${OLD}.9`, `${OLD}123456`])
      expect(ownTime([text], now)).toBe(OLD * 1000);
    for (const text of ["x", "", "20454", "9999999999"])
      expect([now, OLD * 1000]).toContain(ownTime([text, String(OLD)], now));
    expect(ownTime([undefined, "x", String(OLD)], now)).toBe(OLD * 1000);
    expect(ownTime(["x"], now)).toBe(now);
  });
});

describe("the diagnosis has the document of the key set", () => {
  const token = async () => {
    const signer = jwtSigner({
      key: key.privateJwk,
      kid: "k1",
      alg: "ES256",
      baseUrl: "https://tenant.example.com",
    });
    return signedBy(signer, String(OLD), [
      ["Webhook-Timestamp", String(OLD)],
      ["Webhook-Event-Id", ID],
    ]);
  };
  const sets = async () => {
    const [one] = (await createKeySet([key]).publicJwks()).keys;
    const [two] = (await createKeySet([other]).publicJwks()).keys;
    return {
      right: { keys: [one] },
      "without alg": { keys: [{ ...one, alg: undefined }] },
      "another use": { keys: [{ ...one, use: "enc" }] },
      "other key_ops": { keys: [{ ...one, key_ops: ["sign"] }] },
      twice: { keys: [one, { ...two, kid: "k1" }] },
      "without kid": { keys: [{ ...one, kid: undefined }] },
      "in capitals": { keys: [{ ...one, kid: "K1" }] },
      "another key": { keys: [two] },
    } as const;
  };
  const WANTED = {
    right: "",
    "without alg": 'key-members-missing: .* Seen: use "sig", alg missing\\.',
    "another use": 'key-members-missing: .* Seen: use "enc", alg "ES256"\\.',
    "other key_ops": "key-members-missing: .*key_ops",
    twice: "kid-twice: ",
    "without kid": "kid-missing-in-key-set: [^?]*(?<!undefined made it\\.)$",
    "in capitals": 'kid-other-case: .*"K1" made it',
    "another key": "kid-unknown: ",
  } as const;

  async function served(body: string, status = 200): Promise<string> {
    const server = createServer((_request, response) => {
      response.statusCode = status;
      response.end(body);
    });
    onTestFinished(() => void server.close());
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks.json`;
  }

  it.each(Object.entries(WANTED))("a set with the key %s", async (name, wanted) => {
    const set = JSON.stringify((await sets())[name as keyof typeof WANTED]);
    writeFileSync(path("set.json"), set);
    for (const source of [path("set.json"), await served(set)]) {
      const { exit, mistakes } = await verified(
        await token(),
        "--jwks",
        source,
        "--url",
        URL_OF_LISTENER,
        "--ignore-time",
      );
      expect(mistakes.join()).toMatch(new RegExp(`^${wanted}`));
      expect(exit).toBe(wanted === "" ? 0 : 7);
    }
  });

  it("a page in place of the set is named, and a set that cannot be read is no cause", async () => {
    const flags = ["--url", URL_OF_LISTENER, "--ignore-time"];
    const page = await verified(await token(), "--jwks", await served("<html>Sign in</html>"), ...flags);
    expect(page.mistakes.join()).toMatch(/^key-set-html/);
    for (const source of [await served("x", 500), "http://127.0.0.1:1/jwks.json"]) {
      const { exit, mistakes, code } = await verified(await token(), "--jwks", source, ...flags);
      expect([exit, mistakes, code]).toEqual([3, [], "KEY_SET_UNAVAILABLE"]);
    }
  });

  it("other schemes say what the set has", async () => {
    const { "another use": enc, "in capitals": capitals } = await sets();
    const signed = await signedBy(
      httpSignatureSigner({ key: { key: key.privateJwk, kid: "k1", alg: "ES256" } }),
      String(OLD),
      [["Webhook-Event-Id", ID]],
    );
    for (const [set, wanted] of [
      [enc, 'has use "enc"'],
      [capitals, 'It has "K1", which is written otherwise'],
    ] as const) {
      writeFileSync(path("set.json"), JSON.stringify(set));
      const { mistakes } = await verified(
        signed,
        "--scheme",
        "http-signature",
        "--jwks",
        path("set.json"),
        "--url",
        URL_OF_LISTENER,
        "--ignore-time",
      );
      expect(mistakes.join()).toMatch(/^keyid-unknown/);
      expect(mistakes.join()).toContain(wanted);
    }
  });
});
