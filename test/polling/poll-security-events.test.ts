import { generateKey, localKeys } from "hookproof/jwks";
import { memoryReplayStore } from "hookproof/receiver";
import { CAEP, type SecurityEventClaims, securityEvent, securityEventVerifier } from "hookproof/set";
import { pollSecurityEvents } from "hookproof/set/polling";
import { expect, it } from "vitest";
import { readVectors } from "../vectors/vector-file.js";
import { AUDIENCE, ISSUER, POLL_URL, polledOutbox, TOKEN, verifier } from "./polled.js";

type Options = Parameters<typeof pollSecurityEvents>[0];
type Transport = NonNullable<Options["transport"]>;

/** A transport to a handler of web requests; what it is sent is kept. */
function transportTo(handler: (request: Request) => Promise<Response>) {
  const asked: { body: Record<string, unknown>; headers: Headers }[] = [];
  const transport: Transport = async ({ method, url, headers, body, signal }) => {
    const lines = headers.map(([name, value]) => [name, value] as [string, string]);
    const text = new TextDecoder().decode(body);
    asked.push({ body: JSON.parse(text), headers: new Headers(lines) });
    const request = new Request(url, { method, headers: lines, body: text, ...(signal && { signal }) });
    const response = await handler(request);
    const bytes = new Uint8Array(await response.arrayBuffer());
    return { status: response.status, headers: [...response.headers], body: bytes, truncated: false };
  };
  return { transport, asked };
}

/** Polls until `until` says that it is enough, which is asked after each event, failure and wait. */
async function polls({
  until,
  ...options
}: Partial<Options> & { until: (seen: Seen) => boolean }): Promise<Seen> {
  const stopping = new AbortController();
  const seen: Seen = { events: [], failures: [], waits: [] };
  const look = () => {
    if (until(seen)) stopping.abort();
  };
  await pollSecurityEvents({
    url: POLL_URL,
    authorization: TOKEN,
    verifier,
    signal: stopping.signal,
    wait: async (ms) => {
      seen.waits.push(ms);
      look();
      await new Promise((resolve) => setImmediate(resolve));
    },
    onFailure: (error) => {
      seen.failures.push(error);
      look();
    },
    ...options,
    async transport(request) {
      const answer = await (options.transport as Transport)(request);
      look();
      return answer;
    },
    async run(event, reservation) {
      await options.run?.(event, reservation);
      seen.events.push(event.id);
      look();
    },
  });
  return seen;
}

interface Seen {
  readonly events: string[];
  readonly failures: unknown[];
  readonly waits: number[];
}

const json = (body: unknown, init: ResponseInit = {}) => new Response(JSON.stringify(body), init);

it("each event is run once and acknowledged, the last ones when the polls end", async () => {
  const { put, handler, state, clock } = polledOutbox();
  const ids = await put(5);
  const { transport, asked } = transportTo(handler({ waitMs: 0 }));
  const seen = await polls({ transport, clock, maxEvents: 2, until: ({ events }) => events.length === 5 });
  expect(seen.events).toEqual(ids);
  expect(await Promise.all(ids.map(state))).toEqual(ids.map(() => "delivered"));
  expect(asked.map(({ body }) => body)).toEqual([
    { maxEvents: 2 },
    { maxEvents: 2, ack: ids.slice(0, 2) },
    { maxEvents: 2, ack: ids.slice(2, 4) },
    { maxEvents: 0, returnImmediately: true, ack: ids.slice(4) },
  ]);
  expect(asked[0]?.headers.get("Authorization")).toBe(TOKEN);
});

it("a token that comes again is acknowledged, and not run again", async () => {
  const { put, handler, state, clock } = polledOutbox();
  const [id = ""] = await put(1);
  const replayStore = memoryReplayStore({ clock });
  const handle = handler({ waitMs: 0 });
  let lost = 0;
  const losing = transportTo(async (request) => {
    const body = await request.clone().json();
    if (body.ack && lost++ === 0) return new Response(null, { status: 502, headers: { "Retry-After": "7" } });
    return handle(request);
  });
  let runs = 0;
  const run = async () => void runs++;
  const first = await polls({
    transport: losing.transport,
    clock,
    replayStore,
    run,
    until: ({ events }) => events.length === 1,
  });
  expect([runs, first.failures.length, await state(id)]).toEqual([1, 1, "in-flight"]);
  clock.advance(60_001);
  const second = transportTo(handle);
  await polls({
    transport: second.transport,
    clock,
    replayStore,
    run,
    until: () => second.asked.length === 2,
  });
  expect([runs, await state(id)]).toEqual([1, "delivered"]);
});

it("what is refused is reported with Content-Language, and what only failed comes again", async () => {
  const { outbox, put, handler, state, clock } = polledOutbox();
  const other = await generateKey({ alg: "ES256", kid: "k1" });
  const wrongKeys = securityEventVerifier({
    issuer: ISSUER,
    audience: AUDIENCE,
    keys: localKeys({ keys: [other.publicJwk] }),
  });
  const [refused = ""] = await put(1);
  const one = transportTo(handler({ waitMs: 0 }));
  await polls({ transport: one.transport, clock, verifier: wrongKeys, until: () => one.asked.length === 2 });
  expect(one.asked[1]?.body).toMatchObject({ setErrs: { [refused]: { err: "invalid_key" } } });
  expect(one.asked[1]?.headers.get("Content-Language")).toBe("en");
  expect(await state(refused)).toBe("dead");

  const payload = securityEvent(CAEP.sessionRevoked, {});
  const { eventId } = await outbox.enqueue({ listener: "rp", payload });
  const two = transportTo(handler({ waitMs: 0 }));
  const run = () => Promise.reject(new Error("the database is away"));
  const { waits } = await polls({
    transport: two.transport,
    clock,
    run,
    until: (seen) => seen.waits.length === 1,
  });
  expect([waits, two.asked.length, await state(eventId)]).toEqual([[1_000], 1, "in-flight"]);
});

it("polls that fail are repeated, later each time, and not before Retry-After", async () => {
  const answers = [
    () => new Response(null, { status: 500 }),
    () => new Response(null, { status: 401 }),
    () => new Response("no JSON"),
    () => json({ sets: [] }),
    () => new Response(null, { status: 429, headers: { "Retry-After": "3600" } }),
    () => json({ sets: {} }),
  ];
  const { transport, asked } = transportTo(async () => answers[asked.length - 1]?.() ?? json({}));
  const { waits, failures } = await polls({ transport, until: (seen) => seen.waits.length === 6 });
  expect(waits.slice(0, 5)).toEqual([1_000, 2_000, 4_000, 8_000, 3_600_000]);
  expect(waits[5]).toBeGreaterThan(4_000); // after nothing, five seconds less what the poll took
  expect(failures).toMatchObject([
    { code: "RECEIVER_UNAVAILABLE" },
    { code: "AUTHENTICATION_REFUSED" },
    { code: "RESPONSE_INVALID" },
    { code: "RESPONSE_INVALID" },
    { code: "RECEIVER_UNAVAILABLE" },
  ]);
});

it("a Retry-After of years stops the polls for a day", async () => {
  const { transport } = transportTo(
    async () => new Response(null, { status: 503, headers: { "Retry-After": "99999999" } }),
  );
  const { waits } = await polls({ transport, until: (seen) => seen.waits.length === 1 });
  expect(waits).toEqual([86_400_000]);
});

it("a run that hangs holds the end for five seconds, and its event is not acknowledged", async () => {
  const { put, handler, state, clock } = polledOutbox();
  const [first = "", hanging = ""] = await put(2);
  const { transport, asked } = transportTo(handler({ waitMs: 0 }));
  const stopping = new AbortController();
  const waits: number[] = [];
  await pollSecurityEvents({
    ...{ url: POLL_URL, authorization: () => TOKEN, verifier, transport, clock },
    run: async ({ id }) => {
      if (id === first) return;
      setImmediate(() => stopping.abort());
      await new Promise(() => {});
    },
    wait: async (ms) => void waits.push(ms),
    signal: stopping.signal,
  });
  expect(waits).toEqual([5_000]);
  expect(asked.at(-1)?.body).toEqual({ maxEvents: 0, returnImmediately: true, ack: [first] });
  expect(await Promise.all([first, hanging].map(state))).toEqual(["delivered", "in-flight"]);
});

it("a token under another's id is refused, and not run", async () => {
  const { put, handler, clock } = polledOutbox();
  const [id = ""] = await put(1);
  const handle = handler({ waitMs: 0 });
  const { transport, asked } = transportTo(async (request) => {
    const { sets } = (await (await handle(request)).json()) as { sets: Record<string, string> };
    return json({ sets: { other: sets[id], number: 1 } });
  });
  const { events, waits } = await polls({ transport, clock, until: (seen) => seen.waits.length === 2 });
  expect(events).toEqual([]);
  const other = { err: "invalid_request", description: expect.stringContaining("jti") };
  expect(asked[1]?.body).toMatchObject({ setErrs: { other, number: { err: "invalid_request" } } });
  // What is told again and again, and comes all the same, is not asked for without a pause.
  expect(waits).toEqual([1_000, 2_000]);
});

it("the answer of RFC 8936, figure 6, is refused token by token: neither is signed", async () => {
  const { answer } = readVectors<{ answer: { body: { sets: Record<string, string> } } }>("rfc_polling.json");
  const { transport, asked } = transportTo(async () => json(asked.length === 1 ? answer.body : {}));
  await polls({ transport, until: () => asked.length > 1 });
  const reported = Object.fromEntries(
    Object.keys(answer.body.sets).map((id) => [
      id,
      { err: "invalid_request", description: expect.any(String) },
    ]),
  );
  expect(asked[1]?.body).toMatchObject({ setErrs: reported });
});

it("the signal ends a poll that waits", async () => {
  const { clock } = polledOutbox();
  const stopping = new AbortController();
  const transport: Transport = ({ signal }) =>
    new Promise((_, reject) => signal?.addEventListener("abort", () => reject(new Error("aborted"))));
  const ended = pollSecurityEvents({
    ...{ url: POLL_URL, authorization: () => TOKEN, verifier, transport, clock },
    run: async ({ payload }) => void (payload as SecurityEventClaims),
    signal: stopping.signal,
  });
  setImmediate(() => stopping.abort());
  await ended;
});

it.each([
  [{ url: "http://idp.example.com/" }, "TLS_REQUIRED"],
  [{ maxEvents: 0 }, "maxEvents"],
  [{ maxEvents: 101 }, "maxEvents"],
  [{ authorization: 1 }, "authorization"],
  [{ signal: {} }, "signal"],
  [{ run: 1 }, "run"],
  [{ pollMs: 1 }, "pollMs"],
])("options that cannot work are named: %j", async (options, named) => {
  const right = {
    url: POLL_URL,
    authorization: TOKEN,
    verifier,
    run: async () => {},
    signal: AbortSignal.abort(),
  };
  const failure = await pollSecurityEvents({ ...right, ...options } as never).catch((error) => error);
  expect(`${failure.code} ${failure.message}`).toContain(named);
});
