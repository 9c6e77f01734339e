// What several answers of a listener show together, and what one of them alone would say wrongly.
import { timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Transport } from "hookproof";
import { findListenerMistake, type ProbeTarget } from "hookproof/probes";
import { afterAll, expect, it } from "vitest";
import { createTransport } from "../../../src/http/transport-fetch.js";
import { resultsOf, SECRET } from "../../kit/probes/listeners.js";
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

const stops: (() => unknown)[] = [];
afterAll(() => Promise.all(stops.map((stop) => stop())));

const hmac = { method: "hmac", secret: SECRET } as const;

async function told(target: ProbeTarget, transport?: Transport) {
  const options = { allowTrigger: true, ...(transport ? { transport } : {}) };
  const results = await resultsOf(target, options);
  const verdict = await findListenerMistake(target, results, options);
  const failed = results.filter(({ outcome }) => outcome === "fail").map(({ id }) => id);
  return { verdict, unexplained: failed.filter((id) => !verdict?.follows.includes(id)) };
}

async function listening(checks: Partial<Checks>): Promise<ProbeTarget> {
  const reference = await startReference({ ...CORRECT, authenticates: correctHmac(SECRET), ...checks });
  stops.push(reference.stop);
  return { url: reference.baseUrl + PATH, auth: hmac };
}

/** Answers as the listener does, with another status for some of them. */
function answersWith(change: (status: number) => number): Transport {
  return async (request) => {
    const answer = await createTransport()(request);
    return { ...answer, status: change(answer.status) };
  };
}

const LOWER = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

it.each<[string, Partial<Checks>, string]>([
  [
    "signatures of another length throw",
    {
      authenticates({ headers, body }) {
        const wanted = hmacOf(SECRET, headOf(headers), body).toString("base64url");
        return timingSafeEqual(Buffer.from(headers["webhook-signature"] ?? ""), Buffer.from(wanted));
      },
    },
    "It answers 500 and not 401 to signatures of another length than 43 characters: its comparison fails.",
  ],
  [
    "events are known by their bodies",
    { replayKey: (_, { body }) => sha256(body) },
    "It answers 409 to correct requests with a new event id: it recognises events by something else than the event id.",
  ],
  [
    "a clock that is behind",
    { inWindow: (timestamp, now) => Math.abs(now - 600 - timestamp) <= 300 },
    "It refuses correct requests and accepts those with a timestamp of the past: its clock is behind, or it takes a local time for UTC.",
  ],
  [
    "a time zone",
    { inWindow: (timestamp, now) => Math.abs(now + 7200 - timestamp) <= 300 },
    "It refuses correct requests and accepts those with a timestamp yet to come: its clock is ahead, or it takes a local time for UTC.",
  ],
  [
    "a window of an hour",
    { inWindow: (timestamp, now) => Math.abs(now - timestamp) <= 3605 },
    "It accepts a timestamp of an hour ago: its window is wider than 5 minutes.",
  ],
  [
    "no bound in the past",
    { inWindow: (timestamp, now) => timestamp - now <= 300 },
    "It accepts a timestamp of an hour ago: it bounds only timestamps that are yet to come.",
  ],
  [
    "no window",
    { inWindow: () => true },
    "It accepts a timestamp of an hour ago: it does not compare the timestamp with its clock.",
  ],
  [
    "a comparison that NaN passes",
    { isTimestamp: () => true, inWindow: (timestamp, now) => !(Math.abs(now - timestamp) > 300) },
    "It accepts the timestamp NaN: a text that is no number passes its comparison with the clock.",
  ],
])("%s", async (_, checks, sentence) => {
  const { verdict } = await told(await listening(checks));
  expect(verdict?.sentence).toBe(sentence);
});

it.each([403, 400])("wrong proofs that are refused with %i are no matter of event ids", async (status) => {
  const transport = answersWith((seen) => (seen === 401 ? status : seen));
  const { verdict, unexplained } = await told(await listening({}), transport);
  expect(verdict?.sentence).toBe(`It refuses wrong proofs with ${status} and not with 401.`);
  expect(unexplained).toEqual([]);
});

it("one error of the server is no refusal of correct requests", async () => {
  let runs = 0;
  const transport = answersWith((seen) => (seen === 200 && runs++ === 0 ? 500 : seen));
  const { verdict, unexplained } = await told(await listening({}), transport);
  expect(verdict?.sentence).toMatch(/^It answers 500 to .*, and accepts other correct requests\.$/);
  expect(unexplained).toEqual([]);
});

it("another success than 200 is told with what to answer", async () => {
  const { verdict } = await told(
    await listening({}),
    answersWith((seen) => (seen === 200 ? 202 : seen)),
  );
  expect(verdict).toMatchObject({
    sentence: "It answers 202 and not 200 to a correct request.",
    fix: "Answer 200 where the event is accepted.",
  });
});

it("a listener may refuse event ids in upper case", async () => {
  const { verdict, unexplained } = await told(await listening({ isEventId: (text) => LOWER.test(text) }));
  expect({ verdict, unexplained }).toEqual({ verdict: undefined, unexplained: [] });
});

it.each<[number, string, string]>([
  [200, "<html><title>Sign in</title></html>", "it is not the listener that answers, or it checks nothing"],
  [204, "", "it is not the listener that answers, or it checks nothing"],
  [400, "<h1>The plain HTTP request was sent to HTTPS port</h1>", "the port is one for https"],
  [
    400,
    '{"error":"missing field: channel"}',
    "it is not the listener that answers, or it does not get as far as the proof",
  ],
])("what answers %i to all is told as such: %s", async (status, body, who) => {
  const server = createServer((request, response) => {
    request.resume().on("end", () => response.writeHead(status).end(body));
  }).listen(0, "127.0.0.1");
  await new Promise((ready) => server.once("listening", ready));
  stops.push(
    () => server.closeAllConnections(),
    () => server.close(),
  );
  const { port } = server.address() as AddressInfo;
  const { verdict, unexplained } = await told({ url: `http://127.0.0.1:${port}${PATH}`, auth: hmac });
  expect(verdict?.id).toBe("answers-alike");
  expect(verdict?.sentence).toContain(`is answered ${status}`);
  expect(verdict?.sentence).toContain(who);
  expect(verdict?.fix).not.toMatch(/secret/i);
  expect(unexplained).toEqual([]);
});

/** Answers 200 to all, with a body that depends on what the listener says of the request. */
function answersInWords(bodyFor: (status: number) => string): Transport {
  return async (request) => {
    const answer = await createTransport()(request);
    return { ...answer, status: 200, body: new TextEncoder().encode(bodyFor(answer.status)) };
  };
}

it("a refusal in the body alone is told as such", async () => {
  const target = await listening({});
  const { verdict } = await told(
    target,
    answersInWords((status) => (status === 200 ? '{"ok":true}' : `{"ok":false,"error":"refused"}`)),
  );
  expect(verdict).toMatchObject({ id: "signature-of-other-secret", requests: 0 });
  expect(verdict?.sentence).toBe(
    'It answers 200 to wrong proofs as well, with another body ({"ok":false,"error":"refused"}): if it refuses them, only the body says so.',
  );
  expect(verdict?.follows).toContain("signature-of-zeros");
});

it("bodies that differ each time, or never, are no refusal", async () => {
  const target = await listening({});
  let n = 0;
  const word = () => String.fromCharCode(97 + (n % 26)).repeat(1 + (n++ % 37));
  for (const bodyFor of [word, () => "{}"]) {
    const { verdict } = await told(target, answersInWords(bodyFor));
    expect(verdict?.sentence).not.toContain("only the body says so");
  }
});

it("half of base64url is named in the listener's language", async () => {
  const target = await listening({
    authenticates({ headers, body }) {
      const wanted = hmacOf(SECRET, headOf(headers), body).toString("base64").replace("=", "");
      return headers["webhook-signature"] === wanted.replaceAll("+", "-");
    },
  });
  const transport: Transport = async (request) => {
    const answer = await createTransport()(request);
    return { ...answer, headers: [...answer.headers, ["X-Powered-By", "PHP/8.2"]] };
  };
  const { verdict } = await told(target, transport);
  expect(verdict?.sentence).toContain("refuses those that have _:");
  expect(verdict?.fix).toContain("strtr(base64_encode($mac), '+/', '-_')");
});

it("an empty signature that passes comes before one that is a character short", async () => {
  const { verdict } = await told(
    await listening({
      authenticates({ headers, body }) {
        const wanted = hmacOf(SECRET, headOf(headers), body).toString("base64url");
        const given = headers["webhook-signature"];
        return given !== undefined && wanted.startsWith(given);
      },
    }),
  );
  expect(verdict?.sentence).toBe(
    "It accepts an empty Webhook-Signature: an empty signature passes its comparison.",
  );
});

it("says of a window only what was answered: the request of 30 days ago may get no answer", async () => {
  const target = await listening({ inWindow: () => true });
  const oldest = Date.now() / 1000 - 86_400;
  const transport: Transport = async (request) => {
    const [, timestamp = ""] = request.headers.find(([name]) => name === "Webhook-Timestamp") ?? [];
    const isProbeOfDays = Number(timestamp) > 1_000_000_000 && Number(timestamp) < oldest;
    if (isProbeOfDays) throw new Error("cut off");
    return createTransport()(request);
  };
  const { verdict } = await told(target, transport);
  expect(verdict?.sentence).toBe(
    "It accepts a timestamp of an hour ago: its window is wider than 5 minutes.",
  );
});
