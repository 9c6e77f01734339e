import { readFileSync } from "node:fs";
import { validateHeaderValue } from "node:http";
import { Ajv } from "ajv";
import { createKeySet, generateKey, localKeys } from "hookproof/jwks";
import {
  type BehaviourProfile,
  behaveAs,
  behaviourDrift,
  type ProbeResult,
  readBehaviour,
  recordBehaviour,
  runProbes,
  selectProbes,
} from "hookproof/probes";
import type { ReceiverAnswer } from "hookproof/receiver";
import { startListeners } from "hookproof-service";
import { describe, expect, it, onTestFinished } from "vitest";
import { SHOWN_BY } from "../../../src/doctor/probes/behaviour.js";
import { resultsOf } from "../../kit/probes/listeners.js";
import { startTenant } from "./tenant-listener.js";

const SECRET = "QSBrZXkgZm9yIEhvb2twcm9vZiB0ZXN0cyBvbmx5ISE";
const PROBED = [...new Set(Object.values(SHOWN_BY))];
const key = generateKey({ alg: "ES256", kid: "k" });

/** The answers of a local listener to the probes that stand for verdicts, and the verdicts it gave. */
async function probed(
  method: "hmac" | "jwt",
  beforeAnswer?: (answer: ReceiverAnswer) => ReceiverAnswer,
): Promise<{ results: ProbeResult[]; verdicts: Map<string, string> }> {
  const keys = localKeys(await createKeySet([await key]).publicJwks());
  let last = "";
  const server = await startListeners({
    listeners: (baseUrl) => [
      {
        listener: {
          id: "lst_1",
          baseUrl,
          auth: method === "hmac" ? { method, secret: SECRET } : { method, keys },
        },
        beforeAnswer,
      },
    ],
    onHandled: ({ verdict }) => {
      last = verdict.ok ? "ACCEPTED" : verdict.code;
    },
  });
  onTestFinished(() => server.stop());
  const { privateJwk } = await key;
  const auth =
    method === "hmac"
      ? { method, secret: SECRET }
      : ({ method, key: privateJwk, kid: "k", alg: "ES256" } as const);
  const [results, verdicts]: [ProbeResult[], Map<string, string>] = [[], new Map()];
  const url = `${server.url}/api/v1/webhooks/incoming/lst_1`;
  const known = new Set(selectProbes({ method }).map(({ id }) => id));
  const only = PROBED.filter((id) => known.has(id));
  for await (const result of runProbes({ url, auth }, { allowTrigger: true, concurrency: 1, only })) {
    results.push(result);
    verdicts.set(result.id, last);
  }
  return { results, verdicts };
}

describe.each(["hmac", "jwt"] as const)("a %s listener", (method) => {
  it("has for each verdict the probe that the table names", async () => {
    const { verdicts } = await probed(method);
    const wrong = Object.entries(SHOWN_BY).filter(
      ([code, probe]) => verdicts.has(probe) && verdicts.get(probe) !== code,
    );
    const ofOther = method === "hmac" ? /^(?:TOKEN|CLAIM|KEY)_/ : /^SIGNATURE_/;
    expect(wrong.filter(([code]) => !ofOther.test(code))).toEqual([]);
  });

  it("that behaves as another one is recorded as that one, and drifts from the first", async () => {
    const first = recordBehaviour(method, (await probed(method)).results);
    const changes = {
      "timestamp-missing": 401,
      "body-too-large": 400,
      "correct-request": 202,
      "method-get": 404,
    };
    const tenant = { ...first, answers: { ...first.answers, ...changes } };
    const { results } = await probed(method, behaveAs(readBehaviour(JSON.stringify(tenant))));
    for (const [id, status] of Object.entries(changes))
      expect(results.find((result) => result.id === id)).toMatchObject({ status });
    expect(behaviourDrift(tenant, results)).toEqual([]);
    expect(behaviourDrift(first, results)).toContainEqual({
      id: "timestamp-missing",
      part: "status",
      was: 400,
      is: 401,
      message: "timestamp-missing: the status was 400, and is 401",
    });
    expect(JSON.stringify(tenant)).not.toMatch(/http|lst_1|QSBr/);
  });
});

/** One request for each thing that the tenant does in its own way. */
const ASKED = [
  ...["correct-request", "method-get", "signature-of-other-secret", "timestamp-missing", "timestamp-too-old"],
  ...["timestamp-too-old-bad-proof", "body-too-large", "event-id-processed"],
];

describe("a tenant that is not ours", () => {
  const run = async (url: string) =>
    resultsOf({ url, auth: { method: "hmac", secret: SECRET } }, { allowTrigger: true, only: ASKED });
  const messages = (profile: Pick<BehaviourProfile, "answers">, results: readonly ProbeResult[]) =>
    behaviourDrift(profile, results).map(({ message }) => message);

  it("is kept with its bodies, and without what is another one each time", async () => {
    const profile = recordBehaviour("hmac", await run(await startTenant(SECRET)));
    expect(profile).toMatchObject({
      version: 2,
      answers: {
        "correct-request": { status: 202, body: { accepted: true } },
        "method-get": { status: 405, headers: { allow: "POST" }, body: "Only POST." },
        "signature-of-other-secret": {
          status: 401,
          headers: { "content-type": "application/problem+json", "www-authenticate": "Hmac" },
          body: { error: { code: "bad_signature" }, request_id: "<varies>", tookMs: 0, now: 0 },
        },
      },
    });
    const text = JSON.stringify(profile);
    expect(text).not.toMatch(/http:|lst_tenant|20[0-9]{2}|[A-Za-z0-9_-]{43}/);
    expect(readBehaviour(text)).toEqual(profile);
    expect(messages(profile, await run(await startTenant(SECRET)))).toEqual([]);
  });

  it.each([
    [
      "a word in a body",
      { wrongProof: "forbidden" },
      'signature-of-other-secret: body.error.code was "bad_signature", and is "forbidden"',
    ],
    ["a header", { saysWhen: false }, 'body-too-large: the header retry-after was "a time", and is absent'],
    [
      "the order of checks",
      { proofFirst: false },
      "timestamp-too-old-bad-proof: it checked the signature or token first, and now the timestamp",
    ],
  ])("has drifted in %s, which is said in words", async (_, change, message) => {
    const profile = recordBehaviour("hmac", await run(await startTenant(SECRET)));
    const drift = messages(profile, await run(await startTenant(SECRET, change)));
    expect(drift).toContain(message);
    expect(drift.filter((one) => /request_id|tookMs|now/.test(one) && !one.includes("and now"))).toEqual([]);
  });

  it("is imitated with its bodies and headers, and new ids in them", async () => {
    const profile = recordBehaviour("hmac", await run(await startTenant(SECRET)));
    const server = await startListeners({
      listeners: (baseUrl) => [
        {
          listener: { id: "lst_1", baseUrl, auth: { method: "hmac", secret: SECRET } },
          beforeAnswer: behaveAs(readBehaviour(JSON.stringify(profile))),
        },
      ],
    });
    onTestFinished(() => server.stop());
    const url = `${server.url}/api/v1/webhooks/incoming/lst_1`;
    const get = await fetch(url);
    expect([get.status, get.headers.get("allow"), await get.text()]).toEqual([405, "POST", "Only POST."]);
    const send = async () =>
      fetch(url, {
        method: "POST",
        body: "{}",
        headers: {
          "Content-Type": "application/json",
          "Webhook-Timestamp": String(Math.floor(Date.now() / 1000)),
          "Webhook-Event-Id": crypto.randomUUID(),
          "Webhook-Signature": "A".repeat(43),
        },
      });
    const answer = await send();
    expect(answer.headers.get("content-type")).toBe("application/problem+json");
    const body = (await answer.json()) as { error: { code: string }; request_id: string };
    expect(body.error.code).toBe("bad_signature");
    expect(body.request_id).toMatch(/^[0-9a-f-]{36}$/);
    expect(((await (await send()).json()) as typeof body).request_id).not.toBe(body.request_id);
    const imitated = await resultsOf(
      { url, auth: { method: "hmac", secret: SECRET } },
      { allowTrigger: true, only: ASKED.filter((id) => id !== "timestamp-too-old-bad-proof") },
    );
    expect(messages(profile, imitated)).toEqual([]);
  });

  it("has drifted within a list of a body, which is said with the place", () => {
    const saying = (...errors: object[]) => [
      { id: "proof-missing", answer: { status: 401, body: { errors } } } as ProbeResult,
    ];
    const profile = recordBehaviour("hmac", saying({ code: "proof" }));
    expect(messages(profile, saying({ code: "proof" }))).toEqual([]);
    expect(messages(profile, saying({ code: "no proof" }, {}))).toEqual([
      'proof-missing: body.errors[0].code was "proof", and is "no proof"',
      'proof-missing: body.errors[1] was absent, and is "an object"',
    ]);
  });

  it("is compared by its statuses where an old profile has nothing else", async () => {
    const old = readBehaviour(
      '{"version":1,"method":"hmac","answers":{"method-get":405,"timestamp-missing":400}}',
    );
    expect(messages(old, await run(await startTenant(SECRET)))).toEqual([
      "timestamp-missing: the status was 400, and is 401",
    ]);
  });
});

describe("what a profile cannot do", () => {
  const profile = (answers: object) => readBehaviour(JSON.stringify({ version: 1, method: "hmac", answers }));
  const accepted = { status: 200, verdict: { ok: true } } as const;

  it("write a header line or a body of its own choice to a sender", () => {
    const headers = { allow: "POST\r\nX-Evil: 1", "set-cookie": "a=b", "content-type": "text/html\u001b" };
    const text = JSON.stringify({
      version: 2,
      method: "hmac",
      answers: { "timestamp-missing": { status: 401, headers } },
    }).replace(
      '"headers"',
      `"body":${`{"token":"s3cret","deep":${"[".repeat(9_000)}${"]".repeat(9_000)}}`},"headers"`,
    );
    const verdict = { ok: false, code: "TIMESTAMP_MISSING" } as const;
    const answer = behaveAs(readBehaviour(text))({ status: 400, headers: [], body: "", verdict });
    expect(answer.headers).toEqual([
      ["content-type", "text/html"],
      ["allow", "POST X-Evil: <varies>"],
    ]);
    expect(answer.body).not.toMatch(/s3cret|\[{7}/);
  });

  it("write a header that no server can send, or a time to wait where none belongs", () => {
    const headers = {
      allow: "PÖST 日本",
      "retry-after": "Mon, 01 Jan 2029 00:00:00 GMT",
      "www-authenticate": "X1",
    };
    const profile = JSON.stringify({
      version: 2,
      method: "hmac",
      answers: { "timestamp-missing": { status: 401, headers } },
    });
    const verdict = { ok: false, code: "TIMESTAMP_MISSING" } as const;
    const refused = { status: 400, headers: [] as [string, string][], body: "", verdict };
    const answer = behaveAs(readBehaviour(profile))(refused);
    expect(answer.headers).toEqual([
      ["retry-after", "60"],
      ["allow", "P ST"],
      ["www-authenticate", "<varies>"],
    ]);
    for (const [name, value] of answer.headers) expect(() => validateHeaderValue(name, value)).not.toThrow();
  });

  it("hold the name of a host, or a mail address", () => {
    const answer = {
      status: 401,
      headers: { "www-authenticate": 'Bearer realm="tenant.example.com"' },
      body: { message: "Ask admin@example.com at tenant.example.com:/in, e.g. now. Done." },
    };
    const text = JSON.stringify({ version: 2, method: "hmac", answers: { "timestamp-missing": answer } });
    expect(readBehaviour(text).answers["timestamp-missing"]).toEqual({
      status: 401,
      headers: { "www-authenticate": "Bearer <varies>" },
      body: { message: "Ask <varies> at <varies> e.g. now. Done." },
    });
  });

  it("make an accepted event look refused, or answer without a status", () => {
    expect(behaveAs(profile({ "correct-request": 503 }))(accepted).status).toBe(200);
    expect(behaveAs(profile({ "correct-request": "CONNECTION_LOST" }))(accepted).status).toBe(200);
  });

  it.each([
    ["not JSON", "{", "is not JSON"],
    ["a list", "[]", "is not an object"],
    ["null", "null", "is not an object"],
    ["no version", '{"method":"hmac","answers":{}}', "has no version"],
    ["a newer version", '{"version":3,"method":"hmac","answers":{}}', "is of version 3"],
    ["another method", '{"version":1,"method":"none","answers":{}}', "has no method"],
    ["answers as a list", '{"version":1,"method":"hmac","answers":[]}', "has no answers"],
    ["a status of 1e9", '{"version":1,"method":"hmac","answers":{"a":1000000000}}', "number 1"],
    ["a status of 100", '{"version":1,"method":"hmac","answers":{"a":100}}', "number 1"],
    ["a status with a fraction", '{"version":1,"method":"hmac","answers":{"a":200.5}}', "number 1"],
    ["an answer of version 1", '{"version":1,"method":"hmac","answers":{"a":{"status":200}}}', "number 1"],
    ["no status", '{"version":2,"method":"hmac","answers":{"a":{"body":{}}}}', "number 1"],
    [
      "a list of headers",
      '{"version":2,"method":"hmac","answers":{"a":{"status":200,"headers":[]}}}',
      "number 1",
    ],
    ["a prototype", '{"version":1,"method":"hmac","answers":{"__proto__":200}}', "number 1"],
    ["an escape as a name", '{"version":1,"method":"hmac","answers":{"\\u001b[2J":200}}', "number 1"],
    ["a text to the terminal", '{"version":1,"method":"hmac","answers":{"a":"\\u001b[2J"}}', "number 1"],
    ["a megabyte", `"${"x".repeat(1_000_000)}"`, "more than 1000000 characters"],
    [
      "many answers",
      JSON.stringify({
        version: 1,
        method: "hmac",
        answers: Object.fromEntries(Array.from({ length: 2001 }, (_, n) => [`a${n}`, 200])),
      }),
      "more than 2000 answers",
    ],
  ])("be %s", (_, text, reason) => {
    expect(() => readBehaviour(text)).toThrow(expect.objectContaining({ code: "BEHAVIOUR_INVALID" }));
    expect(() => readBehaviour(text)).toThrow(reason);
  });

  it("differ from its JSON Schema", () => {
    const schema = JSON.parse(
      readFileSync(new URL("../../../cli/behaviour.schema.json", import.meta.url), "utf8"),
    );
    const fits = new Ajv().compile(schema);
    expect(fits(recordBehaviour("hmac", []))).toBe(true);
    const answer = { status: 401, headers: { allow: "POST" }, body: { code: "<varies>" } };
    expect(fits({ version: 1, method: "hmac", answers: { a: 200, b: "TIMED_OUT" } })).toBe(true);
    expect(fits({ version: 2, method: "hmac", answers: { a: 200, b: "TIMED_OUT", c: answer } })).toBe(true);
    for (const answers of [{ a: 100 }, { A: 200 }, { a: "lower" }, { a: { body: "" } }])
      for (const version of [1, 2]) expect(fits({ version, method: "hmac", answers })).toBe(false);
    expect(fits({ version: 1, method: "hmac", answers: { c: answer } })).toBe(false);
  });
});
